"""NumPy's own tests of sort, argsort and lexsort, with the functions of this package in their place."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import numpy_suite
import pytest

TESTS = pathlib.Path(np.__file__).parent / "_core" / "tests"
FILES = ["test_multiarray.py", "test_regression.py", "test_datetime.py", "test_stringdtype.py"]

# Other functions, and the signatures of NumPy's.
LEFT_OUT = ["partition", "searchsorted", "search_sorted", "signature"]


@pytest.mark.skipif(not (TESTS / FILES[0]).exists(), reason="this NumPy comes without its tests")
def test_numpys_tests(tmp_path):
    for name in FILES:
        if (TESTS / name).exists():
            (tmp_path / name).write_text(numpy_suite.rewritten((TESTS / name).read_text()))
    chosen = "(sort or Lexsort)" + "".join(f" and not {word}" for word in LEFT_OUT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "numpy_suite", "-p", "no:cacheprovider", "-k", chosen, str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(__file__).parent)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    calls = dict(re.findall(r"'(\w+)': (\d+)", done.stdout))
    assert passed >= 100
    assert int(calls["sort"]) >= 1000 and int(calls["argsort"]) >= 80 and int(calls["lexsort"]) >= 20, calls
