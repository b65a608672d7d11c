"""The order of text in tables: natural, of locales, and of Unicode."""

import os
import subprocess

import numpy as np
import pytest
import sortie

NAMES = ["b10", "B9", "b9", "a-c", "ab", "\u00e4rm", "Zug", "", "a 7", "\u00c4RM", "b010", "zug"] * 400


@pytest.fixture(scope="session")
def locales(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locales")
    for name in ["de_DE", "sv_SE"]:
        made = ["localedef", "-c", "-i", name, "-f", "UTF-8", str(folder / f"{name}.UTF-8")]
        subprocess.run(made, stderr=subprocess.DEVNULL, check=False)
        assert (folder / f"{name}.UTF-8" / "LC_COLLATE").exists(), "install the package locales"
    return str(folder)


def by_gnu(names, locale, folder, *options):
    environment = {**os.environ, "LOCPATH": folder, "LC_ALL": locale}
    text = "".join(name + "\n" for name in names).encode()
    sorted_text = subprocess.run(["sort", "-s", *options], input=text, env=environment, capture_output=True, check=True)
    return sorted_text.stdout.decode().splitlines()


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "sv_SE.UTF-8"])
def test_locales_are_those_of_gnu_sort(locales, monkeypatch, locale):
    monkeypatch.setenv("LOCPATH", locales)
    table = {"name": np.array(NAMES), "row": np.arange(len(NAMES))}
    found = sortie.sort_by(table, "name", collate=locale)
    assert found["name"].tolist() == by_gnu(NAMES, locale, locales)
    assert (np.array(NAMES)[found["row"]] == found["name"]).all()
    down = sortie.sort_by(table, "name", collate=locale, descending=True)
    assert down["name"].tolist() == by_gnu(NAMES, locale, locales, "-r")


def tables(names):
    polars, pandas, arrow = (pytest.importorskip(module) for module in ["polars", "pandas", "pyarrow"])
    yield np.array([(name,) for name in names], dtype=[("name", "U9")]), lambda table: table["name"].tolist()
    yield pandas.DataFrame({"name": names}), lambda table: table["name"].tolist()
    yield pandas.DataFrame({"name": pandas.array(names, dtype="string")}), lambda table: table["name"].tolist()
    yield polars.DataFrame({"name": names}), lambda table: table["name"].to_list()
    yield arrow.table({"name": names}), lambda table: table["name"].to_pylist()
    coded = arrow.table({"name": arrow.array(names).dictionary_encode()})
    yield coded, lambda table: table["name"].to_pylist()


def test_numbers_count_in_tables_of_all_kinds():
    def key(name):
        digits = "".join(filter(str.isdigit, name))
        return name.rstrip("0123456789").lower(), int(digits or -1)

    names = [name for name in NAMES if name != "a 7"]
    for table, read in tables(names):
        found = read(sortie.sort_by(table, "name", collate="natural", case=False))
        assert found == sorted(names, key=key), type(table)


def test_each_column_has_its_own_order_and_numbers_none():
    table = {"a": np.array(["x10", "x9", "x9"]), "b": np.array(["10", "9", "10"]), "c": np.array([3, 2, 1])}
    found = sortie.sort_by(table, ["a", "b"], collate=["natural", None])
    assert found["c"].tolist() == [1, 2, 3]
    assert sortie.sort_by(table, "c", collate="natural")["c"].tolist() == [1, 2, 3]


def test_nulls_stay_where_they_are_asked_for():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": ["a10", None, "a9"]})
    assert sortie.sort_by(frame, "x", collate="natural", nulls="first")["x"].to_list() == [None, "a9", "a10"]
    found = sortie.sort_by(frame, "x", collate="natural")["x"]
    assert found.to_list() == ["a9", "a10", None]
    assert not found.flags["SORTED_ASC"]


def test_unicode_has_the_alphabet_of_a_language():
    table = {"x": np.array(["zug", "arn", "\u00e4rm", "a-c"])}
    assert sortie.sort_by(table, "x", collate="unicode")["x"].tolist() == ["a-c", "\u00e4rm", "arn", "zug"]
    assert sortie.sort_by(table, "x", collate="unicode:sv")["x"].tolist() == ["a-c", "arn", "zug", "\u00e4rm"]


def test_what_is_no_order_is_refused():
    table = {"x": np.array(["a"])}
    for name, said in [("xx_XX", "is not installed"), ("unicode:1", "is no language"), ("", "collate")]:
        with pytest.raises(ValueError, match=said):
            sortie.sort_by(table, "x", collate=name)
