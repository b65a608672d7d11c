"""Sorts arrays of another process with torch.sort(stable=True): a line in, a line out.

`open HANDLE`: from now on the keys are at the start of that allocation, a CUDA IPC handle in hex. Answers `opened`.
`sort TYPE SEGMENTS LENGTH REPS`: sorts each segment, once as a warm-up and REPS times. Answers `right MS...` or `wrong MS...`.
Anything that fails is answered with `error: ...`.
"""

import ctypes
import sys

import torch

CHECKED_AT_ONCE = 1 << 26
"""Elements; the check takes several times as much memory."""

LARGE = 1 << 26
"""Elements from which on the memory is given back after a sort, for the other process needs it."""

TYPES = {"i32": ("<i4", torch.int32), "f32": ("<f4", torch.int32), "f64": ("<f8", torch.int64)}
"""How an array interface calls each type, and the integers of its size."""


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


class Keys:
    """Memory that belongs to the other process, as an array."""

    def __init__(self, address, shape, typestr):
        self.__cuda_array_interface__ = {"version": 2, "shape": shape, "typestr": typestr, "data": (address, False)}


def opened(text):
    torch.zeros(1, device="cuda")  # makes the context that the driver needs
    address = ctypes.c_uint64()
    handle = Handle.from_buffer_copy(bytes.fromhex(text))
    enable_peer_access = ctypes.c_uint(1)  # the only flag there is
    open_handle = ctypes.CDLL("libcuda.so.1").cuIpcOpenMemHandle_v2
    open_handle.argtypes = [ctypes.POINTER(ctypes.c_uint64), Handle, ctypes.c_uint]
    status = open_handle(ctypes.byref(address), handle, enable_peer_access)
    if status != 0:
        raise RuntimeError(f"cuIpcOpenMemHandle failed with {status}: CUDA IPC is not allowed here")
    return address.value


def sort(address, kind, segments, length, reps):
    typestr, integers = TYPES[kind]
    shape = (length,) if segments == 1 else (segments, length)
    keys = torch.as_tensor(Keys(address, shape, typestr), device="cuda")
    values, indices = torch.sort(keys, stable=True)  # so that the memory is there when it counts
    times = []
    for _ in range(reps):
        del values, indices
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        values, indices = torch.sort(keys, stable=True)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    rows = [whole.view(segments, length) for whole in (keys, values, indices)]
    verdict = "right" if in_order(*rows, integers) else "wrong"
    del keys, values, indices, rows
    if segments * length >= LARGE:
        torch.cuda.empty_cache()
    return verdict, *times


def in_order(keys, values, indices, integers):
    """Whether values are the keys at the indices, bit for bit, and ascend, equal ones by index: then no index is there twice."""
    segments, length = keys.shape
    some = max(1, CHECKED_AT_ONCE // length)
    for row in range(0, segments, some):
        for column in range(0, length, CHECKED_AT_ONCE):
            part = slice(row, row + some), slice(max(0, column - 1), column + CHECKED_AT_ONCE)
            value, index = values[part], indices[part]
            picked = keys[part[0]].gather(1, index)
            if not torch.equal(picked.view(integers), value.view(integers)):
                return False
            low, high = value[:, :-1], value[:, 1:]
            less = (low < high) | (high.isnan() & ~low.isnan())
            equal = (low == high) | (high.isnan() & low.isnan())
            if not (less | (equal & (index[:, :-1] < index[:, 1:]))).all():
                return False
    return True


def main():
    print(torch.__version__, flush=True)
    address = None
    for line in sys.stdin:
        try:
            match line.split():
                case ["open", handle]:
                    address = opened(handle)
                    answer = ["opened"]
                case ["sort", kind, *numbers]:
                    answer = sort(address, kind, *map(int, numbers))
                case _:
                    answer = ["error: neither `open` nor `sort`"]
        except Exception as error:
            answer = ["error:", (str(error) or repr(error)).splitlines()[0]]
            torch.cuda.empty_cache()
        print(*answer, flush=True)


main()
