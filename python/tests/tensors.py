"""Tensors that the tests of CPUs and of GPUs sort. It does not import torch, which need not be installed."""


def numbers(torch, name, shape, device):
    """Random numbers of the type of this name: among floats, also NaN and -0.0."""
    a = torch.randint(-100, 100, shape, device=device)
    dtype = getattr(torch, name)
    if dtype.is_floating_point:
        a = a.to(dtype) / 4
        a[a == 3] = float("nan")
        a[a == 4] = -0.0
        return a
    return (a > 0) if name == "bool" else a.to(dtype)
