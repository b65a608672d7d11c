"""Every example of the documentation runs, and every function has one."""

import contextlib
import doctest
import io
import json
import pathlib
import runpy

import numpy as np
import pytest
import sortie

FUNCTIONS = [name for name in sortie.__all__ if name not in ("Phase", "Report")]
GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
TUTORIAL = GUIDE.with_name("tutorial.md")
TABLES = pathlib.Path(__file__).parents[1] / "bench" / "tables.py"
NOTEBOOK = GUIDE.with_suffix(".ipynb")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy prints numbers otherwise before 2.0")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    function = getattr(sortie, name)
    test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, None)
    assert test.examples, f"{name} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


def test_classes_are_documented():
    for kind in (sortie.Phase, sortie.Report):
        assert kind.__doc__
        assert all(getattr(kind, name).__doc__ for name in dir(kind) if not name.startswith("_"))


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not beside the tests")
@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy prints numbers otherwise before 2.0")
@pytest.mark.parametrize("page", [GUIDE, TUTORIAL], ids=lambda page: page.name)
def test_guide(page, tmp_path, monkeypatch):
    for package in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    # A doctest ends at an empty line or at the end of the block.
    text = page.read_text().replace("\n```", "\n\n```")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.skipif(not TUTORIAL.exists(), reason="the tutorial is not beside the tests")
def test_tutorial_on_a_gpu():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if len(sortie.devices()) == 1 or not torch.cuda.is_available():
        pytest.skip("this machine has no GPU that works, or this torch has no CUDA")
    blocks = TUTORIAL.read_text().split("```py\n")[1:]
    assert blocks
    for block in blocks:
        exec(block.split("```")[0], {})


@pytest.mark.skipif(not NOTEBOOK.exists(), reason="the notebook is not beside the tests")
def test_notebook():
    """Its cells run, and print what it shows."""
    names = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for cell in cells:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        shown = "".join(text for output in cell["outputs"] for text in output["text"])
        assert printed.getvalue() == shown


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not beside the tests")
def test_tables_of_the_guide_are_as_measured():
    guide = GUIDE.read_text()
    assert runpy.run_path(str(TABLES))["with_tables"](guide) == guide, "run python python/bench/tables.py"
