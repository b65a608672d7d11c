#!/usr/bin/env bash
# Asked for the mass 1000.005, has_peak of ms_deisotope returns the peak at 1000.000 beside one at 1000.005, if this is the last.
#
# Expected: the peak at 1000.005, and all_peaks_for returns both, as they are within 10 ppm. The documentation says of has_peak "Find the
#   peak that best matches" and of all_peaks_for "Find all peaks that match"; PeakSet of ms_peak_picker beneath it does so by m/z.
# Seen: the last peak of all is missed beside another one within the tolerance. With a heavier peak behind it, or if the two are alone,
#   it is found. No warning.
# Versions: ms_deisotope 0.0.60, ms_peak_picker 0.1.46, numpy 2.4.6. Date: 2026-12-01.
# Output seen:
#   1000.005 among 800, 1000 and 1000.005:         has_peak 1000.0    all_peaks_for [1000.0]
#   1000.005 among 800, 1000, 1000.005 and 1200:   has_peak 1000.005  all_peaks_for [1000.0, 1000.005]
#   1000.005 among 1000 and 1000.005:              has_peak 1000.005  all_peaks_for [1000.0, 1000.005]
#   m/z 1000.005 among 800, 1000 and 1000.005:     has_peak 1000.005  all_peaks_for [1000.0, 1000.005]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary=:all: ms_deisotope==0.0.60 ms_peak_picker==0.1.46 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - << 'END'
from ms_deisotope import DeconvolutedPeak, DeconvolutedPeakSet, mass_charge_ratio
from ms_deisotope.peak_set import Envelope
from ms_peak_picker import PeakSet, simple_peak


def by_mass(mass):
    mz = mass_charge_ratio(mass, 1)
    rest = {"intensity": 1.0, "charge": 1, "signal_to_noise": 1, "index": 0, "full_width_at_half_max": 0.01}
    return DeconvolutedPeak(neutral_mass=mass, mz=mz, envelope=Envelope([(mz, 1)]), **rest)


def show(what, kind, attribute, peaks):
    peaks = kind(peaks)
    peaks.reindex()
    best = getattr(peaks.has_peak(1000.005, 1e-5), attribute)
    found = [getattr(peak, attribute) for peak in peaks.all_peaks_for(1000.005, 1e-5)]
    print(f"{what + ':':46} has_peak {best:<9} all_peaks_for {found}")
    return best, found


def masses(what, *masses):
    return show(what, DeconvolutedPeakSet, "neutral_mass", [by_mass(mass) for mass in masses])


both = (1000.005, [1000, 1000.005])
assert masses("1000.005 among 800, 1000 and 1000.005", 800, 1000, 1000.005) == (1000, [1000]), "the last of three masses is found now"
assert masses("1000.005 among 800, 1000, 1000.005 and 1200", 800, 1000, 1000.005, 1200) == both, "the third of four masses changed"
assert masses("1000.005 among 1000 and 1000.005", 1000, 1000.005) == both, "the last of two masses changed"
picked = [simple_peak(mz, 1, 0.01) for mz in (800, 1000, 1000.005)]
assert show("m/z 1000.005 among 800, 1000 and 1000.005", PeakSet, "mz", picked) == both, "the last m/z changed"
END
