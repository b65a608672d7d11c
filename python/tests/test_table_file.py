"""Tables in files: CSV, TSV and JSON lines, compared with the modules csv and json and the stable sort of Python."""

import csv
import gzip
import io
import json
import os
import random
import warnings
from fractions import Fraction

import pytest
import sortie

MIB = 1 << 20


def records(rng, count, separator=",", end="\n"):
    """Records, each with its name, its number and its bytes. Names may have separators, quotes and line breaks."""
    made = []
    for i in range(count):
        name = "".join(rng.choice([separator, '"', "\n", "a", "b", "é"]) for _ in range(rng.randint(0, 4)))
        integers = [str(rng.randint(-40, 40)), str(2**127 - rng.randint(0, 2))]
        number = rng.choice(["", f"0{rng.randint(0, 20)}.50", *integers])
        quoted = '"' + name.replace('"', '""') + '"'
        needs = any(c in name for c in (separator, '"', "\n"))
        text = separator.join([quoted if needs or rng.random() < 0.3 else name, number, str(i)]) + end
        made.append((name, number, text))
    return made


def of_name(record):
    return (record[0] == "", record[0].encode())


def of_number(record, sign=1):
    return (1, 0) if record[1] == "" else (0, sign * Fraction(record[1]))


def joined(header, some):
    return (header + "".join(text for _, _, text in some)).encode()


@pytest.mark.parametrize(("separator", "end", "options"), [
    (",", "\n", {"format": "csv"}),
    ("\t", "\r\n", {"format": "tsv"}),
    ("|", "\n", {"delimiter": "|"}),
    (";", "\n", {}),
], ids=str)
def test_tables_agree_with_python(tmp_path, separator, end, options):
    rng = random.Random(1)
    path, out = tmp_path / "a", tmp_path / "out"
    header = f"name{separator}n{separator}id{end}"
    for count in (0, 1, 40_000):
        some = records(rng, count, separator, end)
        path.write_bytes(joined(header, some))
        # The module csv reads the same fields.
        read = list(csv.reader(io.StringIO(joined(header, some).decode(), newline=""), delimiter=separator))
        assert [tuple(fields[:2]) for fields in read[1:]] == [record[:2] for record in some]
        orders = [
            (["name:text", "n:number"], lambda record: (of_name(record), of_number(record))),
            ("n:number:desc,1:text", lambda record: (of_number(record, -1), of_name(record))),
        ]
        for by, order in orders:
            expected = joined(header, sorted(some, key=order))
            for limit in (None, 4 * MIB):
                for threads in (1, 2):
                    sortie.sort_file(path, out, by=by, threads=threads, memory_limit=limit, **options)
                    assert out.read_bytes() == expected, (by, limit, threads)
            assert sortie.check_file(out, by=by, **options) is None
            # Several files with the same header, sorted and merged.
            parts = [tmp_path / "p1", tmp_path / "p2"]
            for part, few in zip(parts, (some[: count // 3], some[count // 3 :])):
                part.write_bytes(joined(header, few))
            sortie.sort_file(parts, out, by=by, **options)
            assert out.read_bytes() == expected
            for part in parts:
                sortie.sort_file(part, part, by=by, **options)
            sortie.sort_file(parts, out, by=by, merge=True, memory_limit=4 * MIB, **options)
            assert out.read_bytes() == expected
            sortie.sort_file(path, out, by=by, top=7, **options)
            assert out.read_bytes() == joined(header, sorted(some, key=order)[:7])
    assert sorted(os.listdir(tmp_path)) == ["a", "out", "p1", "p2"]


def test_json_lines_agree_with_python(tmp_path):
    rng = random.Random(2)
    path = tmp_path / "a.jsonl.gz"
    some = []
    for i in range(30_000):
        value = rng.choice([None, rng.randint(-9, 9), rng.randint(-9, 9) / 4, 2**100 + rng.randint(0, 2)])
        some.append({"id": i, "a": {"x": [1, {}], "n": value}, "s": rng.choice(["é", "a", 'q"', ""])})
    text = "".join(json.dumps(each, ensure_ascii=rng.random() < 0.5) + "\n" for each in some)
    path.write_bytes(gzip.compress(text.encode(), 1))
    lines = text.splitlines(keepends=True)

    def order(line):
        document = json.loads(line)
        number = document["a"]["n"]
        return (number is None, 0 if number is None else Fraction(number), document["s"].encode())

    expected = "".join(sorted(lines, key=order)).encode()
    for options in ({"by": [".a.n", ".s"]}, {"by": ".a.n:number,.s", "format": "jsonl"}):
        told = []
        out = tmp_path / "out.gz"
        sortie.sort_file(path, out, memory_limit=4 * MIB, progress=lambda *at: told.append(at), **options)
        assert gzip.decompress(out.read_bytes()) == expected
        assert told == sorted(told) and told[-1][1] is None
    path.write_bytes(b'{"a": 1}\n{"a": }\n')
    with pytest.raises(ValueError, match=r"a.jsonl.gz:2: invalid JSON at column 7"):
        sortie.sort_file(path, path, by=".a")
    assert path.read_bytes() == b'{"a": 1}\n{"a": }\n'


def test_one_of_equal_records_is_kept(tmp_path):
    rng = random.Random(3)
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    some = [(rng.randint(0, 300), rng.randint(0, 99), i) for i in range(20_000)]
    path.write_text("a,b,c\n" + "".join("%d,%d,%d\n" % each for each in some))
    some.sort(key=lambda each: (each[0], -each[1]))
    groups = {}
    for each in some:
        groups.setdefault(each[0], []).append(each)
    kept = {
        "first": [group[0] for group in groups.values()],
        "last": [group[-1] for group in groups.values()],
        "none": [group[0] for group in groups.values() if len(group) == 1],
    }
    for keep, expected in kept.items():
        for unique in ("a", ["1"]):
            sortie.sort_file(path, out, by=["a", "b:desc"], unique=unique, keep=keep, memory_limit=4 * MIB)
            assert out.read_text() == "a,b,c\n" + "".join("%d,%d,%d\n" % each for each in expected)
    sortie.sort_file(path, out, by="a", unique=True)
    assert len(out.read_text().splitlines()) == 1 + len(groups)
    assert sortie.check_file(out, by="a", unique=True) is None
    assert sortie.check_file(path, by="a") is not None


def test_equal_records_are_counted_and_columns_chosen(tmp_path):
    rng = random.Random(4)
    path, out, others = (tmp_path / name for name in ("a.csv", "out.csv", "others.csv"))
    some = [(rng.choice(["x,y", "a;b", "c", ""]), i) for i in range(5_000)]
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("name", "i"), *some])
    sortie.sort_file(
        path, out, by="name", unique=True, count="times", duplicates=others, columns="i,name", output_delimiter=";"
    )
    firsts, counts = {}, {}
    for name, i in some:
        firsts.setdefault(name, i)
        counts[name] = counts.get(name, 0) + 1
    with open(out, newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    ordered = sorted(firsts, key=lambda name: (name == "", name))
    assert rows == [["times", "i", "name"]] + [[str(counts[name]), str(firsts[name]), name] for name in ordered]
    with open(others, newline="") as file:
        left = list(csv.reader(file))
    assert left[0] == ["name", "i"] and len(left) == 1 + len(some) - len(firsts)
    sortie.sort_file(path, out, by="name", unique=True, count=True)
    assert out.read_text().startswith("count,name,i\n")
    for options, error, says in [
        ({"by": "name", "count": True}, ValueError, "count counts equal records; give unique=True"),
        ({"by": "name", "duplicates": others}, ValueError, "duplicates is for what is left out of equal records"),
        ({"by": "name", "unique": True, "duplicates": out}, ValueError, "cannot be the same file"),
        ({"by": "name", "unique": True, "duplicates": "/dev/null"}, ValueError, "not a regular file"),
        ({"by": "name", "unique": True, "count": 1}, TypeError, "count must be True, False or the name"),
        ({"keys": "1", "columns": "a"}, ValueError, "columns is for tables, and this is a sort of lines"),
        ({"by": "name", "columns": "z"}, ValueError, "there is no column 'z'"),
        ({"by": "name", "output_delimiter": "ab"}, ValueError, "give one ASCII character"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_file(path, out, **options)


def test_headers_comments_and_what_does_not_fit(tmp_path):
    path = tmp_path / "a"
    path.write_text("# made\nn,t\nkg,s\n3,x\n# between\n1,y\nz,w\n")
    with pytest.warns(UserWarning, match="^1 value of column 'n' not of type number, sorted as null$"):
        sortie.sort_file(path, tmp_path / "out", by="n:number", header=2, comment="#")
    assert (tmp_path / "out").read_text() == "# made\nn,t\nkg,s\n1,y\n3,x\nz,w\n# between\n"
    with pytest.raises(ValueError, match="a:7: 'z' in column 'n' is not a number"):
        sortie.sort_file(path, path, by="n:number", header=2, comment="#", strict=True)
    path.write_text("2\n1\n10\n")
    sortie.sort_file(path, path, format="csv", by="1:number:desc", header=0)
    assert path.read_text() == "10\n2\n1\n"
    sortie.sort_file(path, path, format="csv", header=False)
    assert path.read_text() == "1\n10\n2\n"
    assert sortie.check_file(path, by="1:number", header=0) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.write_text("a,b\n1\n")
        with pytest.raises(UserWarning, match="1 record with fewer or more than 2 fields"):
            sortie.check_file(path, by="a")


def test_what_is_wrong_is_refused_in_the_words_of_the_program(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out"
    path.write_text("a,b\n1,2\n")
    (tmp_path / "other.csv").write_text("a,c\n1,2\n")
    out.write_text("before")
    for options, error, says in [
        ({"by": "c"}, ValueError, "t.csv: there is no column 'c'; the header has 'a', 'b'"),
        ({"by": "a:int"}, ValueError, "the key \"a:int\" is not valid: 'int' is not one of text"),
        ({"by": ["a", ""]}, ValueError, "a column has no name"),
        ({"by": 1}, TypeError, "by must be a text"),
        ({"by": "a", "unique": "b"}, ValueError, "records cannot be unique by column 'b'"),
        ({"by": "a", "unique": "b:desc"}, ValueError, "only names are allowed here"),
        ({"by": "a", "keep": "last"}, ValueError, "give unique=True or unique=NAMES too"),
        ({"by": "a", "unique": True, "keep": "all"}, ValueError, 'choose "first", "last" or "none"'),
        ({"by": "a", "descending": True}, ValueError, 'write ":desc" after the name of a column'),
        ({"by": "a", "keys": "1"}, ValueError, "keys is for lines, and this is a sort of a table"),
        ({"by": "a", "dtype": "u1"}, ValueError, "dtype is for numbers, and this is a sort of a table"),
        ({"format": "csv", "delimiter": ";"}, ValueError, "a table has one form"),
        ({"delimiter": "ab"}, ValueError, 'delimiter is "ab"; give one ASCII character'),
        ({"delimiter": '"'}, ValueError, "quotes and line ends have another meaning in a table"),
        ({"by": "a", "comment": "\n"}, ValueError, "comment is .*: quotes and line ends"),
        ({"format": "lines", "header": 1}, ValueError, "header is for tables, and this is a sort of lines"),
        ({"by": "a", "top": 1, "merge": True}, ValueError, "top is for sorts; leave out merge"),
        ({"by": "a", "top": -1}, ValueError, "-1 is negative"),
    ]:
        with pytest.raises(error, match=says):
            sortie.sort_file(path, out, **options)
    says = "other.csv: its columns are not those of the first input: 'a', 'c', not 'a', 'b'"
    with pytest.raises(ValueError, match=says):
        sortie.sort_file([path, tmp_path / "other.csv"], out, by="a")

    def fail(done, work):
        raise LookupError("stop")

    with pytest.raises(LookupError):
        sortie.sort_file(path, out, by="a", progress=fail)
    assert out.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["other.csv", "out", "t.csv"]
