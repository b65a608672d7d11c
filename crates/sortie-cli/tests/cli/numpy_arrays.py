"""Compares `sortie` on .npy files with NumPy. Arguments: the program, an empty folder."""

import itertools
import random
import subprocess
import sys

import numpy as np

PROGRAM, FOLDER = sys.argv[1:]
KINDS = ["b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "M8[ns]", "m8[25us]"]
SHAPES = [(), (0,), (1,), (7,), (1000,), (0, 5), (5, 0), (3, 4), (130, 70), (4, 3, 5), (2, 1, 70, 3), (6, 6, 6)]
checked = 0


def elements(kind, count, rng):
    """All bit patterns alike, and many that are equal or special."""
    dtype = np.dtype("<" + kind)
    if kind == "b1":
        return rng.integers(0, 2, count).astype(bool)
    bits = rng.integers(0, 2**64 - 1, count, dtype=np.uint64, endpoint=True)
    numbers = bits.astype(f"<u{dtype.itemsize}").view(dtype).copy()
    if dtype.kind in "mM":
        # NaT is the least integer.
        special = np.array([0, 1, -1, np.iinfo("i8").min, np.iinfo("i8").min + 1, np.iinfo("i8").max]).view(dtype)
    elif dtype.kind == "f":
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0, -1.0], dtype)
    else:
        special = np.array([0, 1, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    some = rng.random(count) < 0.4
    numbers[some] = rng.choice(special, int(some.sum()))
    return numbers


def codes(array, descending):
    """Unsigned integers in sortie's order of the elements: -0.0 before 0.0, NaNs last by their bits."""
    kind, width = array.dtype.kind, array.dtype.itemsize
    native = array.astype(array.dtype.newbyteorder("="))
    bits = np.ascontiguousarray(native).view(f"u{width}").astype(np.uint64).reshape(array.shape)
    top = np.uint64(2 ** (8 * width) - 1)
    sign = np.uint64(2 ** (8 * width - 1))
    if kind == "f":
        nans = np.uint64(2 ** {2: 10, 4: 23, 8: 52}[width] - 1)
        code = np.where(bits & sign, ~bits & top, bits | sign)
        code = (code - nans) & top
        last = top - nans - nans
        return np.where(code <= last, last - code, code) if descending else code
    if kind in "mM":
        # NaT comes last in both directions.
        return top - (bits ^ sign) if descending else (bits ^ sign) - np.uint64(1)
    code = bits ^ sign if kind == "i" else bits
    return top - code if descending else code


def level(array):
    """The elements with those that NumPy takes as equal the same."""
    if array.dtype.kind != "f":
        return array
    array = array.copy()
    array[array == 0] = 0
    array[np.isnan(array)] = np.nan
    return array


def run(array, axis, descending, argsort, threads):
    source, target = f"{FOLDER}/in.npy", f"{FOLDER}/out.npy"
    np.save(source, array)
    command = [PROGRAM, "sort", source, "-o", target, f"--parallel={threads}"]
    command += [f"--axis={axis}"] if axis is not None else []
    command += ["--descending"] * descending + ["--argsort"] * argsort
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    assert done.stderr == "", done.stderr
    return np.load(target)


def check(array, axis, descending, argsort, threads):
    global checked
    checked += 1
    what = (array.dtype.str, array.shape, array.flags.f_contiguous, axis, descending, argsort, threads)
    got = run(array, axis, descending, argsort, threads)
    along = -1 if axis is None else axis
    if argsort:
        assert got.dtype == np.int64, (what, got.dtype)
        expected = np.argsort(level(array) if not descending else codes(level(array), True), axis=along, kind="stable")
        if not descending:
            assert np.array_equal(expected, np.argsort(array, axis=along, kind="stable")), what
        assert got.shape == expected.shape and np.array_equal(got, expected), what
        return
    assert got.dtype.str == array.dtype.str, (what, got.dtype)
    if not descending:
        expected = np.sort(array, axis=along)
        assert np.array_equal(got, expected, equal_nan=array.dtype.kind in "fmM"), what
    places = np.argsort(codes(array, descending), axis=along, kind="stable")
    expected = np.take_along_axis(array, places, axis=along)
    assert got.shape == array.shape and got.tobytes() == expected.astype(array.dtype).tobytes(), what


def main():
    rng, choose = np.random.default_rng(1), random.Random(1)
    for kind, order, descending, argsort in itertools.product(KINDS, "<>", [False, True], [False, True]):
        array = elements(kind, 35 * 40, rng).astype(order + kind).reshape(35, 40)
        check(array, choose.choice([None, 0, 1]), descending, argsort, 1)
    for shape in SHAPES:
        for axis, order in itertools.product([None, *range(-len(shape), len(shape))], "CF"):
            for argsort in [False, True]:
                if shape == () and not argsort:
                    continue
                kind = choose.choice(KINDS)
                array = elements(kind, int(np.prod(shape)), rng).astype(choose.choice("<>") + kind)
                array = np.asarray(array.reshape(shape), order=order)
                check(array, axis, choose.random() < 0.5, argsort, choose.choice([1, 2, 3]))
    for kind in ["i4", "f8"]:
        array = elements(kind, 300_000, rng)
        check(array, None, False, False, 2)
        check(array, None, False, True, 2)
        check(array.reshape(3, 100_000), 0, False, True, 2)
    print(f"{checked} arrays agree with NumPy {np.__version__}")


main()
