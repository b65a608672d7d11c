"""docs/orders.md says which arguments of Sortie give the order of another library. Each of them is run and compared."""

import importlib.metadata
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "python" / "bench" / "orders"))

import orders  # noqa: E402
import questions  # noqa: E402

DATA = json.loads((ROOT / "docs" / "orders.json").read_text())
ROWS = {row["name"]: row for row in DATA["questions"]}
CALLS = [(question, call, order) for question in questions.QUESTIONS for call, order in question.sortie]
# Those with which the tests run. The others cannot be asked here, only their recorded answers read.
ASKED = ("numpy", "pandas", "polars", "pyarrow", "duckdb")


@pytest.mark.parametrize("question, call, order", CALLS, ids=lambda value: getattr(value, "name", None))
def test_sortie_gives_the_stated_order(question, call, order):
    assert questions.evaluate(question, call) == order


@pytest.mark.parametrize("question", questions.QUESTIONS, ids=lambda question: question.name)
def test_every_answer_has_arguments_of_sortie_or_a_reason(question):
    answers = {cell["answer"] for cell in ROWS[question.name]["answers"].values()}
    given = {order for _, order in question.sortie}
    assert answers <= given | question.without.keys()
    assert not given & question.without.keys()
    # The first call of Sortie is the default, which may be its own. Others are there for the sake of a library.
    assert {order for _, order in question.sortie[1:]} <= answers | {question.sortie[0][1]} if question.sortie else question.without


def test_the_data_are_of_these_questions():
    assert list(ROWS) == [question.name for question in questions.QUESTIONS]
    for question in questions.QUESTIONS:
        row = ROWS[question.name]
        assert row["inputs"] == question.inputs
        assert row["sortie"] == [{"call": call, "answer": order} for call, order in question.sortie]
        assert row["without"] == question.without
        # CuPy is only asked on a machine with a GPU.
        assert row["answers"].keys() | {"cupy"} == question.calls.keys() | {"cupy"}
        assert all((cell["call"], cell["guess"]) == question.calls[name] for name, cell in row["answers"].items())
    assert len(DATA["further"]) >= 40


def test_the_page_is_written_from_the_data():
    assert (ROOT / "docs" / "orders.md").read_text() == orders.page(DATA)


@pytest.mark.parametrize("library", ASKED)
def test_libraries_answer_as_recorded(library):
    installed, recorded = importlib.metadata.version(library), DATA["versions"][library]
    if installed != recorded:
        pytest.skip(f"{library} {installed} is installed, and the answers are of {recorded}")
    for question in questions.QUESTIONS:
        cell = ROWS[question.name]["answers"].get(library)
        # How an unstable sort mixes ties depends on the processor.
        if cell is not None and "mixed" not in (cell["answer"], cell["guess"]):
            assert orders.answer(question, cell["call"]) == cell["answer"], f"{question.text}: {cell['call']}"
