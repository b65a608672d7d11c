#!/usr/bin/env bash
# The MAX of a column of integers of a GeoJSON file, read through GDAL, is a number that the column does not have.
#
# Expected: MAX returns the last row of ORDER BY, exactly: the column is of 64-bit integers, and so is the field of the result.
# Seen: MIN, MAX and SUM of the SQL of GDAL go through doubles, so identifiers beyond 2^53 come rounded. A filter by the result finds no row,
#   or another one. ORDER BY and filters of the same file are exact. Of a GeoPackage, whose SQL is that of SQLite, MAX is exact. No warning.
# Versions: pyogrio 0.13.0, which contains GDAL 3.12.4. Date: 2026-11-30.
# Output seen:
#   GeoJSON: ORDER BY [9007199254740993, 9007199254740995], MIN 9007199254740992, MAX 9007199254740996 as int64, rows where id = MAX: 0
#   GPKG:    ORDER BY [9007199254740993, 9007199254740995], MIN 9007199254740993, MAX 9007199254740995 as int64, rows where id = MAX: 1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pyogrio==0.13.0 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import numpy
import pyogrio.raw

IDENTIFIERS = [2**53 + 3, 2**53 + 1]


def read(path, **options):
    return pyogrio.raw.read(path, read_geometry=False, **options)[3]


def query(driver):
    path = f"points.{driver.lower()}"
    points = numpy.array([bytes.fromhex("0101000000" + "00" * 16)] * 2, object)
    pyogrio.raw.write(path, points, [numpy.array(IDENTIFIERS)], ["id"], geometry_type="Point", crs="EPSG:4326", driver=driver)
    ordered = read(path, sql="SELECT id FROM points ORDER BY id")[0].tolist()
    minimum, maximum = read(path, sql="SELECT MIN(id) AS a, MAX(id) AS b FROM points")[:2]
    found = len(read(path, where=f"id = {maximum[0]}")[0])
    print(f"{driver + ':':8} ORDER BY {ordered}, MIN {minimum[0]}, MAX {maximum[0]} as {maximum.dtype}, rows where id = MAX: {found}")
    assert ordered == sorted(IDENTIFIERS) and maximum.dtype.kind == "i", "the order or the type changed"
    return int(minimum[0]), int(maximum[0]), found


assert query("GeoJSON") == (2**53, 2**53 + 4, 0), "MIN and MAX of GeoJSON changed"
assert query("GPKG") == (2**53 + 1, 2**53 + 3, 1), "MIN and MAX of GeoPackage changed"
END
