#!/usr/bin/env bash
# OpenMS's NLargest leaves the peaks in order of intensity, and findNearest(200) of the result returns the peak at 500 beside one at 200.
#
# Expected: a filter of a spectrum takes peaks away and leaves the others in order of m/z, as WindowMower does, so that a search by m/z
#   finds the peaks that are left.
# Seen: NLargest returns them by descending intensity and does not sort them back. A spectrum that has no more than n peaks stays as it was,
#   so the order depends on the number of peaks. findNearest searches by bisection and returns another peak. sortByPosition cures it. No
#   warning.
# Versions: pyopenms 3.6.0, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   NLargest n=3: [500, 400, 200], sorted: False, nearest to 200: 500
#   NLargest n=5: [100, 200, 300, 400, 500], sorted: True, nearest to 200: 200
#   WindowMower peakcount=3: [200, 400, 500], sorted: True, nearest to 200: 200
#   NLargest n=3, then sortByPosition: [200, 400, 500], sorted: True, nearest to 200: 200
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pyopenms==3.6.0 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy
import pyopenms

MASSES, INTENSITIES = [100, 200, 300, 400, 500], [10, 30, 5, 40, 50]


def keep(filter, settings, sort=False):
    spectrum = pyopenms.MSSpectrum()
    spectrum.set_peaks((numpy.array(MASSES, float), numpy.array(INTENSITIES, numpy.float32)))
    parameters = filter.getParameters()
    for name, value in settings.items():
        parameters.setValue(name, value)
    filter.setParameters(parameters)
    filter.filterPeakSpectrum(spectrum)
    if sort:
        spectrum.sortByPosition()
    masses = [int(mass) for mass in spectrum.get_peaks()[0]]
    name, value = list(settings.items())[-1]
    print(f"{type(filter).__name__} {name}={value}{', then sortByPosition' if sort else ''}: {masses}, sorted: {spectrum.isSorted()}, "
          f"nearest to 200: {masses[spectrum.findNearest(200.0)]}")
    return masses, masses[spectrum.findNearest(200.0)]


assert keep(pyopenms.NLargest(), {"n": 3}) == ([500, 400, 200], 500), "NLargest leaves another order now"
assert keep(pyopenms.NLargest(), {"n": 5}) == (MASSES, 200), "NLargest changed for a spectrum of n peaks"
assert keep(pyopenms.WindowMower(), {"windowsize": 1000.0, "peakcount": 3}) == ([200, 400, 500], 200), "WindowMower changed"
assert keep(pyopenms.NLargest(), {"n": 3}, sort=True) == ([200, 400, 500], 200), "sortByPosition does not cure it now"
END
