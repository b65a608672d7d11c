#!/usr/bin/env bash
# On a GeoJSON file the filter name = 'a' of pyogrio finds "A" too and LIKE 'a' does not; on a GeoPackage it is the other way round.
#
# Expected: = compares exactly, whatever the format is, and name < 'b' finds the rows that ORDER BY name puts before 'b'.
# Seen: the SQL of GDAL, which is used for formats without one of their own, compares text without case in =, IN, <> and < alike, and by case
#   in LIKE. Its ORDER BY goes by bytes: "B" sorts before "a", and name < 'b' leaves "B" out. For GeoPackage the filter is SQLite's: = goes
#   by bytes and LIKE passes over case. Converting a file changes what a filter finds.
# Versions: pyogrio 0.13.0, which contains GDAL 3.12.4. Date: 2026-11-30.
# Output seen:
#   GeoJSON: ORDER BY ['A', 'B', 'a', 'b'], = 'a' ['A', 'a'], LIKE 'a' ['a'], < 'b' ['A', 'a']
#   GPKG:    ORDER BY ['A', 'B', 'a', 'b'], = 'a' ['a'], LIKE 'a' ['A', 'a'], < 'b' ['A', 'B', 'a']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pyogrio==0.13.0 numpy==2.4.6
cd "$folder"
venv/bin/python - << 'END'
import numpy
import pyogrio.raw


def names(path, **options):
    return pyogrio.raw.read(path, read_geometry=False, **options)[3][0].tolist()


def query(driver):
    path = f"points.{driver.lower()}"
    points = numpy.array([bytes.fromhex("0101000000" + "00" * 16)] * 4, object)
    pyogrio.raw.write(path, points, [numpy.array(["b", "A", "a", "B"], object)], ["name"], geometry_type="Point", crs="EPSG:4326", driver=driver)
    results = {"ORDER BY": names(path, sql="SELECT name FROM points ORDER BY name")}
    results |= {test: sorted(names(path, where=f"name {test}")) for test in ("= 'a'", "LIKE 'a'", "< 'b'")}
    print(f"{driver + ':':8}", ", ".join(f"{name} {values}" for name, values in results.items()))
    return list(results.values())


order, both = ["A", "B", "a", "b"], ["A", "a"]
assert query("GeoJSON") == [order, both, ["a"], both], "the filters of GeoJSON changed"
assert query("GPKG") == [order, ["a"], both, ["A", "B", "a"]], "the filters of GeoPackage changed"
END
