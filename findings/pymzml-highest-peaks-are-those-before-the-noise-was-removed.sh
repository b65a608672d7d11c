#!/usr/bin/env bash
# In pymzML, highest_peaks returns peaks that remove_noise or reduce have taken out, if it was called before.
#
# Expected: the highest of the peaks that the spectrum has, as peaks() returns them. has_peak and extreme_values follow the change.
# Seen: the peaks by intensity are sorted once and kept; neither remove_noise nor reduce nor set_peaks throws them away. In a program
#   that looks at the highest peaks, cleans the spectrum and looks again, the second look shows the first result. No warning.
# Versions: pymzml 2.6.1, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   all                            peaks [100.0, 200.0, 300.0, 400.0]  highest 3 [400.0, 300.0, 200.0]
#   without noise                  peaks [200.0, 300.0]                highest 3 [400.0, 300.0, 200.0]
#   without noise, not seen before peaks [200.0, 300.0]                highest 3 [300.0, 200.0]
#   m/z of 250 to 500              peaks [300.0, 400.0]                highest 3 [400.0, 300.0, 200.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: pymzml==2.6.1 numpy==2.4.6
"$folder/venv/bin/python" - << 'END'
import numpy
from pymzml.spec import Spectrum


def spectrum():
    peaks = numpy.array([[100, 1], [200, 9], [300, 5], [400, 3]], float)
    result = Spectrum(measured_precision=5e-6)
    result.set_peaks(peaks, "raw")
    result.set_peaks(peaks, "centroided")
    return result


def show(title, spectrum):
    peaks = [float(mz) for mz, intensity in spectrum.peaks("centroided")]
    highest = sorted((float(mz) for mz, intensity in spectrum.highest_peaks(3)), reverse=True)
    print(f"{title:30} peaks {str(peaks):29} highest 3 {highest}")
    return peaks, highest


first = spectrum()
assert show("all", first)[1] == [400, 300, 200], "the highest peaks changed"
first.remove_noise(noise_level=4)
assert show("without noise", first) == ([200, 300], [400, 300, 200]), "highest_peaks follows remove_noise now"
second = spectrum()
second.remove_noise(noise_level=4)
assert show("without noise, not seen before", second) == ([200, 300], [300, 200]), "the highest peaks without noise changed"
third = spectrum()
third.highest_peaks(3)
third.reduce("centroided", (250, 500))
assert show("m/z of 250 to 500", third) == ([300, 400], [400, 300, 200]), "highest_peaks follows reduce now"
END
