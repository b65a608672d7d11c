"""Files of lines and records, also larger than the memory that is allowed."""

import bz2
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
import sortie

MIB = 1 << 20


def has_gnu():
    path = shutil.which("sort")
    return path and b"GNU coreutils" in subprocess.run([path, "--version"], stdout=subprocess.PIPE).stdout


needs_gnu = pytest.mark.skipif(not has_gnu(), reason="there is no GNU sort here to compare with")


def gnu(path, keys, separator, unique, stable, descending):
    options = [f"-k{key}" for key in keys]
    options += ["-t", separator] if separator else []
    options += ["-u"] * unique + ["-s"] * stable + ["-r"] * descending
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(["sort", *options, path], stdout=subprocess.PIPE, env=environment, check=True).stdout


def lines(rng, count):
    def field():
        return rng.choice(
            [
                lambda: str(rng.randint(-50, 50)),
                lambda: f"{rng.random() * 100:.{rng.randint(0, 3)}f}{rng.choice(['', 'K', 'M', 'e2'])}",
                lambda: rng.choice(["jan", "FEB", "mars", "x", "", "A", "a", "aB", "v1.10", "v1.9"]),
                lambda: "".join(rng.choice("ab ~\t.é") for _ in range(rng.randint(0, 4))),
            ]
        )()

    between = [" ", ",", "  ", "\t"]
    return [
        "".join(field() + rng.choice(between) for _ in range(rng.randint(0, 3))) + field() for _ in range(count)
    ]


def key(rng):
    def place(first):
        char = f".{rng.randint(first, 4)}" if rng.random() < 0.3 else ""
        return f"{rng.randint(1, 4)}{char}"

    letters = rng.choice(["", "", "n", "g", "h", "M", "V", "d", "i", "f"])
    letters += "".join(letter for letter in "bfr" if rng.random() < 0.2 and letter not in letters)
    end = f",{place(0)}" if rng.random() < 0.7 else ""
    return f"{place(1)}{letters}{end}"


@needs_gnu
def test_random_keys_sort_as_gnu_sort_does(tmp_path):
    rng = random.Random(1)
    path, out = tmp_path / "a", tmp_path / "out"
    for round in range(60):
        text = "\n".join(lines(rng, rng.choice([0, 1, 5, 300, 3000])))
        path.write_text(text + "\n" * rng.randint(0, 1))
        keys = [key(rng) for _ in range(rng.randint(0, 3))]
        separator = rng.choice([None, None, ",", "a", "\t"])
        unique, stable, descending = (rng.random() < 0.3 for _ in range(3))
        sortie.sort_file(
            path,
            out,
            format="lines",
            keys=keys if round % 2 else keys or None,
            separator=separator,
            unique=unique,
            stable=stable,
            descending=descending,
            threads=rng.choice([None, 1, 2]),
        )
        expected = gnu(path, keys, separator, unique, stable, descending)
        assert out.read_bytes() == expected, (keys, separator, unique, stable, descending)


@needs_gnu
@pytest.mark.parametrize("threads", [1, 2, None])
@pytest.mark.parametrize("keys", [[], ["2,2n"], ["3r", "1,1f"]], ids=str)
def test_lines_larger_than_memory(tmp_path, threads, keys):
    rng = random.Random(2)
    path = tmp_path / "a.txt"
    some = [f"{rng.randint(0, 10**9)} {rng.randint(0, 999)} {rng.choice('abc')}" for _ in range(50_000)]
    path.write_text("".join(f"{line} {i % 7}\n" for i, line in enumerate(some * 12)))
    size, told = path.stat().st_size, []
    expected = gnu(path, keys, None, False, False, False)
    sortie.sort_file(
        path,
        path,
        format="lines",
        keys=keys,
        threads=threads,
        memory_limit=4 * MIB,
        progress=lambda *at: told.append(at),
    )
    assert path.read_bytes() == expected
    assert os.listdir(tmp_path) == ["a.txt"]
    assert told == sorted(told) and told[-1] == (2 * size, 2 * size) and len(told) > 10
    assert {"read", "write", "merge"} <= {phase.name for phase in sortie.last_report().phases}


@needs_gnu
def test_compressed_text_is_recognised_by_content_and_written_by_name(tmp_path):
    text = b"".join(b"%d line\n" % (i * 7919 % 100_003) for i in range(100_003))
    plain = tmp_path / "plain"
    plain.write_bytes(text)
    expected = gnu(plain, ["1n"], None, False, False, False)
    (tmp_path / "no-extension").write_bytes(gzip.compress(text, 1))
    (tmp_path / "misleading.zst").write_bytes(bz2.compress(text, 1))
    told = []
    for name in ("no-extension", "misleading.zst", "plain"):
        for out, read in [("o.gz", gzip.decompress), ("o.bz2", bz2.decompress), ("o", bytes)]:
            for limit in (None, 4 * MIB):
                sortie.sort_file(
                    tmp_path / name,
                    tmp_path / out,
                    keys="1n",
                    memory_limit=limit,
                    progress=lambda *at: told.append(at),
                )
                assert read((tmp_path / out).read_bytes()) == expected, (name, out, limit)
    assert {work for _, work in told} == {None, 2 * len(text)}


def test_records_are_sorted_whole(tmp_path):
    rng = random.Random(3)
    reads = [
        (f"r{i} x", "".join(rng.choice("ACGT") for _ in range(rng.randint(1, 6)))) for i in rng.sample(range(999), 500)
    ]
    fastq = {read: f"@{read[0]}\n{read[1]}\n+\n{'I' * len(read[1])}\n" for read in reads}
    path, out = tmp_path / "a.fq.gz", tmp_path / "out.fq.gz"
    path.write_bytes(gzip.compress("".join(fastq[read] for read in reads).encode()))
    orders = {
        "sequence": lambda read: read[1],
        "name": lambda read: read[0].split()[0],
        "length": lambda read: len(read[1]),
    }
    for by, order in orders.items():
        for descending in (False, True):
            expected = sorted(reads, key=order, reverse=descending)
            sortie.sort_file(path, out, format="fastq", by=by, descending=descending)
            assert gzip.decompress(out.read_bytes()).decode() == "".join(fastq[read] for read in expected)
    sortie.sort_file(path, out, format="fastq", unique=True, threads=1)
    distinct = {}
    for read in reads:
        distinct.setdefault(read[1], read)
    expected = "".join(fastq[distinct[sequence]] for sequence in sorted(distinct))
    assert gzip.decompress(out.read_bytes()).decode() == expected
    # Blocks of BGZF, as programs for such records expect them.
    assert out.read_bytes()[12:14] == b"BC"

    fasta = tmp_path / "a.fa"
    fasta.write_bytes(b">b\nCC\nA\n>a\nCC\n>c\nCCA")
    sortie.sort_file(fasta, fasta, format="fasta")
    assert fasta.read_bytes() == b">a\nCC\n>b\nCC\nA\n>c\nCCA\n"


def test_records_larger_than_memory(tmp_path):
    rng = random.Random(4)
    names = [f"{rng.randint(0, 10**8):08}" for _ in range(120_000)]
    path = tmp_path / "a.fa"
    path.write_text("".join(f">{name}\n{'ACGT' * 15}\n" for name in names))
    sortie.sort_file(path, path, format="fasta", by="name", memory_limit=4 * MIB, threads=2)
    assert path.read_text() == "".join(f">{name}\n{'ACGT' * 15}\n" for name in sorted(names))
    assert os.listdir(tmp_path) == ["a.fa"]
    path.write_text(">a\n" + "A" * 3 * MIB + "\n")
    with pytest.raises(ValueError, match="a.fa:1: this record needs .*; allow .* MiB or more"):
        sortie.sort_file(path, path, format="fasta", memory_limit=4 * MIB)


def test_nothing_is_sorted_as_what_it_is_not(tmp_path):
    out = tmp_path / "out"
    out.write_bytes(b"before")
    (tmp_path / "text").write_text("b\na\n")
    np.save(tmp_path / "a.npy", np.arange(3))
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("a", "b\n")
    (tmp_path / "fq").write_text("@a\nAC\n+\nI\n")
    for name, options, error, says in [
        ("text", {}, TypeError, 'not a .npy file; give the dtype of its numbers, the keys of its lines'),
        ("a.npy", {"format": "lines"}, ValueError, "a.npy is .*, not text"),
        ("a.npy", {"keys": "1n"}, ValueError, "a.npy is .*, not text"),
        ("zip", {"format": "lines"}, ValueError, "zip is a zip archive, not text"),
        ("text", {"format": "xls"}, ValueError, '"fastq", "prefixed", "csv", "tsv" or "jsonl"'),
        ("text", {"format": "lines", "dtype": "u1"}, ValueError, "dtype is for numbers"),
        ("text", {"keys": "1", "dtype": "u1"}, ValueError, "dtype is for numbers"),
        ("text", {"format": "lines", "nans": "first"}, ValueError, "nans is for numbers"),
        ("text", {"format": "lines", "order": "total"}, ValueError, "order is for numbers"),
        ("text", {"format": "lines", "engine": "cuda"}, ValueError, "engine is for numbers"),
        ("text", {"format": "lines", "by": "name"}, ValueError, "by is for records"),
        ("text", {"unique": True}, ValueError, "unique is for lines, records and tables"),
        ("a.npy", {"stable": True}, ValueError, "stable is for lines, records and tables"),
        ("a.npy", {"top": 1}, ValueError, "top is for lines and tables"),
        ("a.npy", {"merge": True}, ValueError, "merge is for lines and tables"),
        ("a.npy", {"by": "name"}, ValueError, "a.npy is .*, not text"),
        ("fq", {"format": "fastq", "merge": True}, ValueError, "merge is for .*, and this is a sort of records"),
        ("fq", {"format": "fastq", "by": ["name", "length"]}, ValueError, 'unknown key "name,length" of records'),
        ("text", {"format": "prefixed", "top": 1}, ValueError, "top is for .*, and this is a sort of records after"),
        ("text", {"format": "prefixed"}, ValueError, "text: the last item is cut short"),
        ("text", {"keys": "1", "unique": "a"}, ValueError, "only tables have columns"),
        ("text", {"keys": "1", "unique": 2}, TypeError, "unique must be True, False, the name of a column"),
        ("text", {"keys": "1", "top": 1, "merge": True}, ValueError, "top is for sorts; leave out merge"),
        ("fq", {"format": "fastq", "keys": "1"}, ValueError, "keys is for lines"),
        ("fq", {"format": "fastq", "by": "title"}, ValueError, 'choose "sequence", "name" or "length"'),
        ("fq", {"format": "fastq"}, ValueError, "fq:4: record 'a'"),
        ("text", {"format": "fasta"}, ValueError, "text:1"),
        ("text", {"keys": "0"}, ValueError, 'the key "0" is not valid: fields are counted from 1'),
        ("text", {"keys": ["1", "1nM"]}, ValueError, "options '-Mn' are incompatible"),
        ("text", {"keys": 1}, TypeError, "keys must be a text"),
        ("text", {"separator": "é"}, ValueError, "one ASCII character"),
        ("text", {"separator": ""}, ValueError, "one ASCII character"),
        ("none", {"format": "lines"}, FileNotFoundError, "No such file"),
        (".", {"format": "lines"}, IsADirectoryError, "directory"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_file(tmp_path / name, out, **options)
    with pytest.raises(ValueError, match="not a regular file"):
        sortie.sort_file("/dev/null", out, format="lines")
    with pytest.raises(ValueError, match="compressed with zip"):
        sortie.sort_file(tmp_path / "text", tmp_path / "out.zip", format="lines")

    def fail(done, work):
        raise LookupError("stop")

    with pytest.raises(LookupError):
        sortie.sort_file(tmp_path / "text", out, format="lines", progress=fail)
    assert out.read_bytes() == b"before"


@needs_gnu
def test_several_files_are_sorted_and_merged_as_one(tmp_path):
    rng = random.Random(5)
    some = [f"{rng.randint(0, 10**6)} {rng.choice('abc')}\n" for _ in range(60_000)]
    paths = [tmp_path / name for name in "abc"]
    for i, path in enumerate(paths):
        path.write_text("".join(some[i::3]))
    whole = tmp_path / "whole"
    whole.write_text("".join(path.read_text() for path in paths))
    out = tmp_path / "out"
    expected = gnu(whole, ["1n"], None, False, True, False)
    for limit in (None, 4 * MIB):
        sortie.sort_file(paths, out, keys="1n", stable=True, memory_limit=limit)
        assert out.read_bytes() == expected
    sortie.sort_file(tuple(paths), out, keys="1n", stable=True, top=1000)
    assert out.read_bytes() == b"".join(expected.splitlines(keepends=True)[:1000])
    for path in paths:
        sortie.sort_file(path, path, keys="1n", stable=True)
        assert sortie.check_file(path, keys="1n", stable=True) is None
    told = []
    sortie.sort_file(paths, out, keys="1n", stable=True, merge=True, progress=lambda *at: told.append(at))
    merged = subprocess.run(
        ["sort", "-ms", "-k1n", *paths], stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}, check=True
    ).stdout
    assert out.read_bytes() == merged
    assert told[-1] == (len(merged), len(merged))
    # The first of the files may be the result too.
    sortie.sort_file(paths, paths[0], keys="1n", stable=True, merge=True)
    assert paths[0].read_bytes() == merged
    with pytest.raises(ValueError, match="path is an empty list"):
        sortie.sort_file([], out, keys="1n")
    with pytest.raises(ValueError, match="one array is sorted at a time, but 3 files were given"):
        sortie.sort_file(paths, out, dtype="u1")
    with pytest.raises(FileNotFoundError):
        sortie.sort_file([paths[0], tmp_path / "none"], out, keys="1n")


def test_the_first_line_out_of_order_is_found(tmp_path):
    path = tmp_path / "a"
    path.write_text("b 1\na 2\nc 2\n")
    for options, found in [
        ({"format": "lines"}, 2),
        ({"keys": "2n", "stable": True}, None),
        ({"keys": "2n", "unique": True}, 3),
        ({"keys": "2n", "descending": True}, 3),
        ({"keys": "2", "descending": True}, 2),
    ]:
        assert sortie.check_file(path, **options) == found, options
    path.write_text(">b\nAC\n>a\nAC\n")
    assert sortie.check_file(path, format="fasta") is None
    assert sortie.check_file(path, format="fasta", by="name") == 3
    for options, says in [({}, "give their format, keys or by"), ({"unique": True}, "unique is for lines")]:
        with pytest.raises(ValueError, match=says):
            sortie.check_file(path, **options)
    with pytest.raises(FileNotFoundError):
        sortie.check_file(tmp_path / "none", format="lines")
    with pytest.raises(ValueError, match="not a regular file"):
        sortie.check_file("/dev/null", format="lines")


def test_records_after_their_lengths(tmp_path):
    rng = random.Random(6)
    records = [bytes(rng.choice(b"ab\0\n") for _ in range(rng.randint(0, 9))) for _ in range(100_000)]

    def packed(records):
        return b"".join(len(record).to_bytes(4, "little") + record for record in records)

    path = tmp_path / "a"
    path.write_bytes(packed(records))
    out = tmp_path / "out"
    for limit in (None, 4 * MIB):
        sortie.sort_file(path, out, format="prefixed", memory_limit=limit)
        assert out.read_bytes() == packed(sorted(records))
    sortie.sort_file([path, path], out, format="prefixed", descending=True, unique=True)
    assert out.read_bytes() == packed(sorted(set(records), reverse=True))
    assert sortie.check_file(out, format="prefixed", descending=True, unique=True) is None
    assert sortie.check_file(out, format="prefixed") == 2


def test_a_file_may_be_called_like_standard_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_text("b\na\n")
    sortie.sort_file("-", "-", format="lines")
    assert (tmp_path / "-").read_text() == "a\nb\n"


def test_control_c_stops_a_sort_of_lines(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(np.random.default_rng(4).integers(33, 126, 64 * MIB, "u1").tobytes() + b"\n")
    text = path.read_bytes().replace(b"~", b"\n")
    path.write_bytes(text)
    code = (
        "import sortie, sys\n"
        "told = lambda done, work: print(done, flush=True)\n"
        "try:\n"
        f"    sortie.sort_file({str(path)!r}, {str(path)!r}, keys='1f', memory_limit=8 << 20, progress=told)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child.stdout.readline()
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    rest = child.communicate(timeout=60)[0]
    assert time.monotonic() - start < 5 and rest.endswith("stopped\n") and child.returncode == 0
    assert os.listdir(tmp_path) == ["a"] and path.read_bytes() == text


def test_a_forked_process_sorts_with_threads_of_its_own(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"".join(b"%d\n" % (i * 7919 % 100_003) for i in range(100_003)))
    code = (
        "import os, sortie\n"
        f"path = {str(path)!r}\n"
        "sortie.sort_file(path, path, keys='1n', threads=2)\n"
        "child = os.fork()\n"
        "sortie.sort_file(path, path + str(child == 0), keys='1nr', threads=2)\n"
        "if child:\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    expected = b"".join(b"%d\n" % i for i in reversed(range(100_003)))
    assert (tmp_path / "aTrue").read_bytes() == expected == (tmp_path / "aFalse").read_bytes()
