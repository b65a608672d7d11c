"""A plugin of pytest that gives NumPy's own tests the sorts of this package.

The functions of `numpy` are replaced. Methods of arrays cannot be, so calls of `.sort(..)` and `.argsort(..)` in the tests become
calls of functions here. What this package leaves to NumPy goes there: other types of sort, and types without an order here.
"""

import ast
import collections

import numpy as np
import sortie

calls = collections.Counter()
# Whether the kinds of NumPy are stable. It looks at the first letter.
KINDS = {"q": None, "h": None, "m": True, "s": True}
original = {name: getattr(np, name) for name in ("sort", "argsort", "lexsort")}


def is_ours(a):
    """Whether this package sorts such arrays."""
    if not isinstance(a, np.ndarray) or isinstance(a, np.ma.MaskedArray) or a.ndim == 0:
        return False
    fields = [a.dtype.fields[name][0] for name in a.dtype.names or ()] or [a.dtype.base]
    return all(field.kind != "O" and field.char not in "gG" and field.isbuiltin != 2 for field in fields)


def options(kind, order, stable, descending):
    """The options of this package, or `None`."""
    letter = str(kind)[:1]
    if kind is not None and (letter not in KINDS or stable is not None):
        return None
    found = {"stable": stable if kind is None else KINDS[letter]}
    if order is not None:
        found["order"] = order
    if descending is not None and descending is not np._NoValue:
        found["descending"] = descending
    return found


def replaced(name, ours, theirs):
    def call(a, axis=-1, kind=None, order=None, *, stable=None, descending=None):
        chosen = options(kind, order, stable, descending)
        if chosen is None or not is_ours(a):
            calls["numpy"] += 1
            extra = {} if descending is None else {"descending": descending}
            return theirs(a, axis=axis, kind=kind, order=order, stable=stable, **extra)
        calls[name] += 1
        return ours(a, axis, **chosen)

    return call


def lexsort(keys, axis=-1):
    if not all(is_ours(np.asanyarray(key)) for key in keys):
        calls["numpy"] += 1
        return original["lexsort"](keys, axis)
    calls["lexsort"] += 1
    return sortie.lexsort(keys, axis)


def method(name, ours):
    """A function for a method: of arrays ours, of other objects their own."""

    def call(self, *args, **kwargs):
        theirs = getattr(self, name)
        if not isinstance(self, np.ndarray):
            return theirs(*args, **kwargs)
        return replaced(name, ours, lambda a, **given: theirs(**{k: v for k, v in given.items() if v is not None}))(
            self, *args, **kwargs
        )

    return call


sort_method = method("sort", sortie.sort_inplace)
argsort_method = method("argsort", sortie.argsort)


class Methods(ast.NodeTransformer):
    """Makes calls of methods calls of functions."""

    def visit_Call(self, node):
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in ("sort", "argsort"):
            if not (isinstance(called.value, ast.Name) and called.value.id == "np"):
                function = ast.Attribute(ast.Name("numpy_suite", ast.Load()), f"{called.attr}_method", ast.Load())
                return ast.copy_location(ast.Call(function, [called.value, *node.args], node.keywords), node)
        return node


def rewritten(source):
    """The source of a test with calls of functions."""
    tree = ast.fix_missing_locations(Methods().visit(ast.parse(source)))
    return "import numpy_suite\n" + ast.unparse(tree)


def pytest_configure(config):
    # Marks that NumPy's own configuration declares.
    for mark in ("thread_unsafe", "leaks_references", "slow", "slow_pypy"):
        config.addinivalue_line("markers", mark)
    np.sort = replaced("sort", sortie.sort, original["sort"])
    np.argsort = replaced("argsort", sortie.argsort, original["argsort"])
    np.lexsort = lexsort


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"calls: {dict(calls)}")
