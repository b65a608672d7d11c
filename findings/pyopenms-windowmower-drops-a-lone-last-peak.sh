#!/usr/bin/env bash
# OpenMS's WindowMower with jumping windows drops the last peak of a spectrum if it is alone in its window, however intense it is.
#
# Expected: it keeps the most intense peaks of each window, here one of each 50 m/z: 120 of the first three, and 300, which has no rival.
#   movetype only says how the window moves. With movetype slide the result is 120 and 300.
# Seen: the number for the last window is scaled by the distance between its first and last peak, and rounded. A lone peak spans nothing, so
#   it is dropped though it is the base peak, and so are both peaks of a narrow pair. A spectrum of one peak becomes empty. The descriptions
#   of the parameters do not say so. No warning.
# Versions: pyopenms 3.6.0, numpy 2.4.6. Date: 2026-11-30.
# Output seen:
#   jump  [100, 110, 120, 300] -> [120]
#   slide [100, 110, 120, 300] -> [120, 300]
#   jump  [100, 110, 120, 300, 301] -> [120]
#   slide [100, 110, 120, 300, 301] -> [120, 300]
#   jump  [300] -> []
#   slide [300] -> [300]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pyopenms==3.6.0 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy
import pyopenms

INTENSITIES = {100: 5, 110: 6, 120: 7, 300: 1000, 301: 900}


def mow(move, masses):
    spectrum, filter = pyopenms.MSSpectrum(), pyopenms.WindowMower()
    spectrum.set_peaks((numpy.array(masses, float), numpy.array([INTENSITIES[mass] for mass in masses], numpy.float32)))
    parameters = filter.getParameters()
    for name, value in ("windowsize", 50.0), ("peakcount", 1), ("movetype", move):
        parameters.setValue(name, value)
    filter.setParameters(parameters)
    filter.filterPeakSpectrum(spectrum)
    result = [int(mass) for mass in spectrum.get_peaks()[0]]
    print(f"{move:5} {masses} -> {result}")
    return result


for masses, jump, slide in ([100, 110, 120, 300], [120], [120, 300]), ([100, 110, 120, 300, 301], [120], [120, 300]), ([300], [], [300]):
    assert mow("jump", masses) == jump, "jumping windows keep other peaks now"
    assert mow("slide", masses) == slide, "sliding windows keep other peaks now"
END
