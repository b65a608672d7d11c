"""Asks other libraries in which order they put things. Writes docs/orders.json, and docs/orders.md from it.

Run it in an environment of its own, with Python 3.13, GNU sort and rustc:

    python3.13 -m venv orders
    orders/bin/pip install -r python/bench/orders/requirements.txt
    orders/bin/pip install --no-deps -r python/bench/orders/requirements-torch.txt
    orders/bin/python python/bench/orders/orders.py

`--only cupy` asks one library and keeps the answers of the others. It needs NumPy and that library, so it runs on a machine with a GPU.
What changed since the last run is printed.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

import further
import questions

DOCS = pathlib.Path(__file__).parents[3] / "docs"
DATA = DOCS / "orders.json"
PAGE = DOCS / "orders.md"

LIBRARIES = {
    "numpy": "NumPy",
    "pandas": "pandas",
    "polars": "Polars",
    "pyarrow": "PyArrow",
    "duckdb": "DuckDB",
    "datafusion": "DataFusion",
    "torch": "torch",
    "cupy": "CuPy",
    "jax": "JAX",
    "std": "Rust's std",
    "gnu": "GNU sort",
    "samtools": "samtools",
    "bcftools": "bcftools",
}


def version(library):
    if library == "std":
        return subprocess.run(["rustc", "--version"], text=True, capture_output=True, check=True).stdout.split()[1]
    if library == "gnu":
        return subprocess.run(["sort", "--version"], text=True, capture_output=True, check=True).stdout.split("\n")[0].split()[-1]
    if library in ("samtools", "bcftools"):
        import pysam.version

        return f"{getattr(pysam.version, f'__{library}_version__')} (of pysam {importlib.metadata.version('pysam')})"
    if library == "cupy":
        import cupy

        card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return f"{cupy.__version__} (on one {card})"
    return importlib.metadata.version(library)


def answer(question, call):
    try:
        return questions.evaluate(question, call)
    except Exception as error:
        print(f"  {question.name}: {call}: {type(error).__name__}: {error}", file=sys.stderr)
        return type(error).__name__


def collect(only, last):
    """The data of this run. Answers of libraries that are not asked are those of the last one."""
    asked = [only] if only else [name for name in LIBRARIES if name != "cupy"]
    kept = {row["name"]: row["answers"] for row in last.get("questions", [])}
    rows = []
    for question in questions.QUESTIONS:
        answers = {}
        for library in LIBRARIES:
            call, guess = question.calls.get(library, (None, None))
            if call is None:
                continue
            if library in asked:
                answers[library] = {"call": call, "guess": guess, "answer": answer(question, call)}
            elif library in kept.get(question.name, {}):
                answers[library] = kept[question.name][library]
        rows.append({
            "section": question.section,
            "name": question.name,
            "text": question.text,
            "inputs": question.inputs,
            "answers": answers,
            "sortie": [{"call": call, "answer": order} for call, order in question.sortie],
            "without": question.without,
        })
    versions = last.get("versions", {}) | {name: version(name) for name in asked}
    single = last.get("further", []) if only else further.collect()
    date = last.get("date") if only else str(datetime.date.today())
    return {"date": date, "versions": versions, "questions": rows, "further": single}


def answers_of(data):
    """Each answer by what was asked."""
    table = {(row["text"], library): cell["answer"] for row in data.get("questions", []) for library, cell in row["answers"].items()}
    return table | {(row["text"], row["packages"]): row["answer"] for row in data.get("further", [])}


def print_changes(last, data):
    before, after = answers_of(last), answers_of(data)
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            print(f"{key[1]}: {key[0]}: {before.get(key, 'not asked')} -> {after.get(key, 'not asked')}")
    for name, version in data["versions"].items():
        if version != last.get("versions", {}).get(name):
            print(f"{name}: {last.get('versions', {}).get(name, 'none')} -> {version}")


def page(data):
    """docs/orders.md."""
    versions = ", ".join(f"{LIBRARIES[name]} {data['versions'][name]}" for name in LIBRARIES if name in data["versions"])
    parts = [HEAD.format(date=data["date"], versions=versions)]
    for section in dict.fromkeys(row["section"] for row in data["questions"]):
        parts.append(section_of(section, [row for row in data["questions"] if row["section"] == section]))
    guessed = [row for row in data["further"] if row["guess"]]
    wrong = sum(row["guess"] != row["answer"] for row in guessed)
    parts.append(FURTHER.format(count=len(data["further"]), guessed=len(guessed), wrong=wrong))
    rows = [[escape(row["text"]), row["packages"], escape(row["guess"] or "none"), cell_of(row)] for row in data["further"]]
    parts.append(table(["question", "packages", "guess", "answer"], rows))
    return "\n".join(parts)


def section_of(name, rows):
    columns = [library for library in LIBRARIES if any(library in row["answers"] for row in rows)]
    lines = []
    for row in rows:
        cells = [cell_of(row["answers"][library]) if library in row["answers"] else "" for library in columns]
        lines.append([escape(row["text"]), *cells, sortie_of(row)])
    return f"## {name}\n\n" + table(["question", *[LIBRARIES[library] for library in columns], "Sortie"], lines)


def cell_of(cell):
    return escape(cell["answer"]) + (" \\*" if cell["guess"] not in (None, cell["answer"]) else "")


def sortie_of(row):
    given = [f"{escape(entry['answer'])}: `{escape(shown(entry['call']))}`" for entry in row["sortie"]]
    reasons = {}
    for order, reason in row["without"].items():
        reasons.setdefault(reason, []).append(escape(order))
    if not given and len(reasons) == 1:
        return next(iter(reasons))
    return "<br>".join([*given, *[f"{', '.join(orders)}: {reason}" for reason, orders in reasons.items()]])


def shown(call):
    """A call as users write it, without what makes text of its result."""
    call = re.sub(r"^ties\(x, (.*)\)$", r"\1", call)
    return re.sub(r"sortie_file\([^,)]+(.*?)\)", r"sortie.sort_file(path, out\1)", call)


def escape(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


HEAD = """# How others order

<!-- Written by python/bench/orders/orders.py. Do not edit. -->

Libraries do not agree on the order of NaNs, nulls, zeros, ties, nested values, categories and names with numbers. This page says what each
one does, and which arguments of Sortie give the same order. The answers were collected on {date} with:

{versions}.

- The last column has the calls of Sortie, each after the order that it gives. The first is the default. The tests of Sortie run these calls.
- The calls to the other libraries, and the inputs `x`, `a` and `t`, are in [orders.json](orders.json).
- An asterisk marks an answer that differs from the guess that was noted before the call was run. For questions that had been asked of earlier
  versions, the guess was the earlier answer.
- An empty cell was not asked: the library has no such function or type. The name of an error is an answer, too.
- "Mixed" ties depend on the length, the version and the processor.
"""

FURTHER = """## Further questions

{count} questions to one or two packages each. A guess was noted for {guessed} of them before they were run, and {wrong} of the guesses were
wrong. "Faster", "as fast" and "slower" were measured on a machine with two cores, and vary. Scripts that repeat the strongest surprises are in
[findings](../findings/README.md).
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", choices=LIBRARIES, help="ask one library, and keep the answers of the others")
    parser.add_argument("--data", type=pathlib.Path, default=DATA, help="the data of the last run, which is replaced")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help="the page to write")
    options = parser.parse_args()
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    warnings.simplefilter("ignore")
    last = json.loads(options.data.read_text()) if options.data.exists() else {}
    data = collect(options.only, last)
    print_changes(last, data)
    options.data.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    options.page.write_text(page(data))


if __name__ == "__main__":
    main()
