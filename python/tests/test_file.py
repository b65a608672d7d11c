"""Files, also larger than the memory that is allowed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import oracle
import pytest
import sortie
from test_numbers import DTYPES, SWAPPED, values

NUMBERS = [d for d in DTYPES + SWAPPED if d.kind != "c"]
MIB = 1 << 20


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("options", [{}, {"descending": True, "nans": "first"}, {"order": "arrow"}], ids=str)
def test_files_of_every_type(tmp_path, dtype, options):
    a = values(dtype, np.random.default_rng(1), 5000)
    path, out = tmp_path / "a.raw", tmp_path / "out.raw"
    a.tofile(path)
    sortie.sort_file(path, out, dtype=dtype, **options)
    found = np.fromfile(out, dtype)
    oracle.assert_equal(found, sortie.sort(a, **options))
    if dtype.name != "bfloat16":
        np.save(tmp_path / "a.npy", a)
        sortie.sort_file(str(tmp_path / "a.npy"), str(tmp_path / "a.npy"), **options)
        assert oracle.same_bits(np.load(tmp_path / "a.npy"), found)


@pytest.mark.parametrize("dtype", ["u8", "f4", ">i2", "M8[s]"])
@pytest.mark.parametrize("descending", [False, True])
def test_files_larger_than_memory(tmp_path, dtype, descending):
    rng = np.random.default_rng(2)
    a = np.frombuffer(rng.bytes(40 * MIB), dtype)
    path = tmp_path / "a.npy"
    np.save(path, a)
    told = []
    sortie.sort_file(
        path, path, memory_limit=4 * MIB, threads=2, descending=descending, progress=lambda *at: told.append(at)
    )
    report = sortie.last_report()
    assert {"read", "write"} <= {phase.name for phase in report.phases}
    oracle.assert_equal(np.load(path), sortie.sort(a, descending=descending))
    assert os.listdir(tmp_path) == ["a.npy"]
    assert told == sorted(told) and told[-1] == (80 * MIB, 80 * MIB) and len(told) > 20


def test_equal_keys_and_few_of_them(tmp_path):
    a = np.random.default_rng(3).integers(0, 3, 5 * MIB).astype("u2")
    a.tofile(tmp_path / "a")
    sortie.sort_file(tmp_path / "a", tmp_path / "b", dtype="u2", memory_limit=4 * MIB, threads=1)
    assert np.array_equal(np.fromfile(tmp_path / "b", "u2"), np.sort(a))
    (tmp_path / "a").write_bytes(b"")
    sortie.sort_file(tmp_path / "a", tmp_path / "b", dtype="u2")
    assert (tmp_path / "b").read_bytes() == b""


def test_the_result_is_a_file_like_others(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    sortie.sort_file(tmp_path / "a.npy", tmp_path / "new")
    umask = os.umask(0)
    os.umask(umask)
    assert os.stat(tmp_path / "new").st_mode & 0o777 == 0o666 & ~umask
    os.chmod(tmp_path / "new", 0o640)
    sortie.sort_file(tmp_path / "a.npy", tmp_path / "new")
    assert os.stat(tmp_path / "new").st_mode & 0o777 == 0o640


def test_errors_leave_the_output_alone(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"before")
    np.save(tmp_path / "two.npy", np.zeros((2, 2)))
    np.save(tmp_path / "text.npy", np.array(["a"]))
    np.save(tmp_path / "cut.npy", np.arange(10))
    os.truncate(tmp_path / "cut.npy", 150)
    (tmp_path / "raw").write_bytes(b"12345")
    for name, options, error, says in [
        ("none", {"dtype": "u4"}, FileNotFoundError, "No such file"),
        ("raw", {}, TypeError, "give the dtype"),
        ("raw", {"dtype": "u4"}, ValueError, "5 bytes"),
        ("raw", {"dtype": "O"}, TypeError, "astype"),
        ("two.npy", {}, ValueError, "2 dimensions"),
        ("text.npy", {}, TypeError, "sorts numbers"),
        ("cut.npy", {}, ValueError, "cut short"),
        ("text.npy", {"dtype": "u4"}, ValueError, "leave out dtype"),
        ("raw", {"dtype": "u1", "memory_limit": 1000}, ValueError, "at least"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_file(tmp_path / name, out, **options)
    with pytest.raises(FileNotFoundError):
        sortie.sort_file(tmp_path / "raw", tmp_path / "no" / "out", dtype="u1")

    def fail(done, work):
        raise LookupError("stop")

    with pytest.raises(LookupError):
        sortie.sort_file(tmp_path / "raw", out, dtype="u1", progress=fail)
    assert out.read_bytes() == b"before"


def test_control_c_stops(tmp_path):
    path = tmp_path / "a"
    np.random.default_rng(4).integers(0, 2**63, 16 * MIB).tofile(path)
    code = (
        "import sortie, sys\n"
        "told = lambda done, work: print(done, flush=True)\n"
        "try:\n"
        f"    sortie.sort_file({str(path)!r}, {str(path)!r}, dtype='u8', memory_limit=8 << 20, progress=told)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    before = path.read_bytes()
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest = child.communicate(timeout=60)[0]
    assert time.monotonic() - start < 5 and rest.endswith("stopped\n") and child.returncode == 0
    assert os.listdir(tmp_path) == ["a"] and path.read_bytes() == before


def test_elements_without_bytes_are_refused(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(b"abc")
    for dtype in ("S0", "V0", "U0"):
        with pytest.raises(TypeError):
            sortie.sort_file(str(path), str(tmp_path / "out"), dtype=dtype)
    assert [found.name for found in tmp_path.iterdir()] == ["raw"]


def test_a_link_stays_and_leads_to_the_result(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5)[::-1])
    (tmp_path / "folder").mkdir()
    real = tmp_path / "folder" / "real"
    real.write_bytes(b"old")
    os.chmod(real, 0o666)
    (tmp_path / "link").symlink_to("folder/real")
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    sortie.sort_file(tmp_path / "a.npy", tmp_path / "chain")
    assert (tmp_path / "chain").is_symlink() and (tmp_path / "link").is_symlink() and not real.is_symlink()
    assert np.load(real).tolist() == [0, 1, 2, 3, 4]
    # Also those that the umask takes from new files.
    assert os.stat(real).st_mode & 0o7777 == 0o666
    (tmp_path / "dangling").symlink_to("folder/new")
    sortie.sort_file(tmp_path / "a.npy", tmp_path / "dangling")
    assert np.load(tmp_path / "folder" / "new").tolist() == [0, 1, 2, 3, 4]
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        sortie.sort_file(tmp_path / "a.npy", tmp_path / "loop")
    sortie.sort_file(tmp_path / "chain", tmp_path / "chain", descending=True)
    assert np.load(real).tolist() == [4, 3, 2, 1, 0]


def test_what_is_not_a_regular_file_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5)[::-1])
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/null", "/dev/zero"):
        with pytest.raises(ValueError, match=f"{path} is not a regular file"):
            sortie.sort_file(path, tmp_path / "out", dtype="u1")
        with pytest.raises(ValueError, match=f"{path} is not a regular file"):
            sortie.sort_file(tmp_path / "a.npy", path)
    with pytest.raises(ValueError, match="/proc/self/stat has more than"):
        sortie.sort_file("/proc/self/stat", tmp_path / "out", dtype="u1")
    for path, out in [(tmp_path, tmp_path / "out"), (tmp_path / "a.npy", tmp_path)]:
        with pytest.raises(IsADirectoryError) as error:
            sortie.sort_file(path, out, dtype="i8")
        assert error.value.filename == str(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "pipe"]


def test_errors_name_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5)[::-1])
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00\x02\x00{}")
    np.save(tmp_path / "o.npy", np.array([None]), allow_pickle=True)
    for name, out, error in [
        ("none", "out", FileNotFoundError),
        ("a.npy", "no/out", FileNotFoundError),
        ("a.npy", "a.npy/out", NotADirectoryError),
        ("bad.npy", "out", ValueError),
        ("o.npy", "out", TypeError),
    ]:
        told = []
        with pytest.raises(error) as raised:
            sortie.sort_file(tmp_path / name, tmp_path / out, progress=lambda *at: told.append(at))
        assert str(tmp_path / (out if name == "a.npy" else name)) in str(raised.value) and told == []
    for progress in (3, "yes"):
        with pytest.raises(TypeError, match="progress must be a function"):
            sortie.sort_file(tmp_path / "none", tmp_path / "out", progress=progress)
    for path in (3, None):
        with pytest.raises(TypeError, match="PathLike"):
            sortie.sort_file(path, tmp_path / "out")


def test_paths_of_every_kind(tmp_path):
    class Named:
        def __init__(self, path):
            self.path = path

        def __fspath__(self):
            return self.path

    name = os.fsencode(tmp_path / "n") + b"\xff.npy"
    with open(name, "wb") as file:
        np.save(file, np.array([2, 1]))
    sortie.sort_file(name, os.fsencode(tmp_path / "out"))
    sortie.sort_file(Named(name), Named(str(tmp_path / "other")))
    sortie.sort_file(os.fsdecode(name), tmp_path / "third")
    for out in ("out", "other", "third"):
        assert np.load(tmp_path / out).tolist() == [1, 2]


def test_a_killed_process_leaves_nothing(tmp_path):
    path = tmp_path / "a"
    np.random.default_rng(4).integers(0, 2**63, 4 * MIB).tofile(path)
    code = (
        "import os, signal, sortie\n"
        "kill = lambda done, work: done < work or os.kill(os.getpid(), signal.SIGKILL)\n"
        f"sortie.sort_file({str(path)!r}, {str(path)!r}, dtype='u8', memory_limit=8 << 20, progress=kill)\n"
    )
    before = path.read_bytes()
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == ["a"] and path.read_bytes() == before
