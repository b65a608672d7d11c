"""The questions of docs/orders.md: inputs, what each library is asked, and the guess that was noted before it was run.

A call is text, so that it stands beside its answer in the data. Helpers that calls use are at the end.
"""

import dataclasses
import importlib
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types

MODULES = {
    "datafusion": "datafusion",
    "duckdb": "duckdb",
    "cupy": "cupy",
    "jax": "jax",
    "jnp": "jax.numpy",
    "np": "numpy",
    "pa": "pyarrow",
    "pc": "pyarrow.compute",
    "pd": "pandas",
    "pl": "polars",
    "pq": "pyarrow.parquet",
    "sortie": "sortie",
    "torch": "torch",
}


@dataclasses.dataclass
class Question:
    """One row of the table.

    `calls` has a call and a guess for each library. `sortie` has the calls of Sortie, each with the order that it gives: the first is the
    default. `without` has the answers that no argument of Sortie gives, each with the reason.
    """

    section: str
    name: str
    text: str
    inputs: dict
    calls: dict
    sortie: list
    without: dict


QUESTIONS = []


def ask(section, name, text, inputs, *, sortie=(), without=None, **calls):
    QUESTIONS.append(Question(section, name, text, inputs, calls, list(sortie), without or {}))


def evaluate(question, call):
    """The answer to a call, as text. Imports what the call and its inputs name, and nothing else."""
    names = dict(globals())

    def load(text):
        for name in names_in(compile(text, question.name, "eval")):
            if name in question.inputs and name not in names:
                names[name] = load(question.inputs[name])
            elif name in MODULES:
                names[name] = importlib.import_module(MODULES[name])
        return eval(text, names)

    return show(load(call))


def names_in(code):
    """The names that an expression uses, those of its lambdas included."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return [*code.co_names, *[name for part in inner for name in names_in(part)]]


def show(value):
    """The same text for equal answers of different libraries."""
    value = plain(value)
    return " ".join(map(text_of, value)) if isinstance(value, list) else text_of(value)


def plain(value):
    for method in ("to_pylist", "as_py", "tolist", "to_list"):
        if hasattr(value, method):
            return getattr(value, method)()
    return list(value) if isinstance(value, tuple) else value


def text_of(value):
    if value is None or type(value).__name__ == "NAType":
        return "null"
    if isinstance(value, list):
        return f"[{', '.join(map(text_of, value))}]"
    if isinstance(value, dict):
        return f"({', '.join(map(text_of, value.values()))})"
    if isinstance(value, float) and value.is_integer():
        return "-0.0" if value == 0 and math.copysign(1, value) < 0 else str(int(value))
    return str(value)


# NaN

NAN = {"x": "np.array([2, np.nan, 1])", "t": "pa.table({'x': x})"}

ask("NaN", "nan-ascending", "2, nan, 1, ascending", NAN,
    numpy=("np.sort(x)", "1 2 nan"),
    pandas=("pd.Series(x).sort_values()", "1 2 nan"),
    polars=("pl.Series(x).sort()", "1 2 nan"),
    pyarrow=("arrow_sort(pa.array(x))", "1 2 nan"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "1 2 nan"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "1 2 nan"),
    torch=("torch.sort(torch.tensor(x)).values", "1 2 nan"),
    cupy=("cupy.sort(cupy.array(x))", "1 2 nan"),
    jax=("jnp.sort(jnp.array(x))", "1 2 nan"),
    std=("rust('let mut v = vec![2.0, f64::NAN, 1.0]; v.sort_by(f64::total_cmp); print(v)')", "1 2 nan"),
    gnu=("gnu('2 nan 1', '-g')", "nan 1 2"),
    sortie=[("sortie.sort(x)", "1 2 nan"), ("sortie.sort(x, nans='first')", "nan 1 2")])

ask("NaN", "nan-descending", "2, nan, 1, descending", NAN,
    numpy=("np.sort(x, descending=True)", "2 1 nan"),
    pandas=("pd.Series(x).sort_values(ascending=False)", "2 1 nan"),
    polars=("pl.Series(x).sort(descending=True)", "nan 2 1"),
    pyarrow=("arrow_sort(pa.array(x), 'descending')", "2 1 nan"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC', t)", "nan 2 1"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC', t)", "nan 2 1"),
    torch=("torch.sort(torch.tensor(x), descending=True).values", "nan 2 1"),
    cupy=("cupy.sort(cupy.array(x))[::-1]", "nan 2 1"),
    jax=("jnp.sort(jnp.array(x), descending=True)", "nan 2 1"),
    std=("rust('let mut v = vec![2.0, f64::NAN, 1.0]; v.sort_by(|a, b| b.total_cmp(a)); print(v)')", "nan 2 1"),
    gnu=("gnu('2 nan 1', '-gr')", "2 1 nan"),
    sortie=[("sortie.sort(x, descending=True)", "2 1 nan"), ("sortie.sort(x, descending=True, nans='first')", "nan 2 1")])

ask("NaN", "nan-computed", "2, the NaN that x86 computes as 0/0, 1, ascending",
    {"x": "np.array([0x4000000000000000, 0xFFF8000000000000, 0x3FF0000000000000], 'u8').view('f8')", "t": "pa.table({'x': x})"},
    numpy=("np.sort(x)", "1 2 nan"),
    pandas=("pd.Series(x).sort_values()", "1 2 nan"),
    polars=("pl.Series(x).sort()", "1 2 nan"),
    pyarrow=("arrow_sort(pa.array(x))", "1 2 nan"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "1 2 nan"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "nan 1 2"),
    torch=("torch.sort(torch.tensor(x)).values", "1 2 nan"),
    cupy=("cupy.sort(cupy.array(x))", "1 2 nan"),
    jax=("jnp.sort(jnp.array(x))", "1 2 nan"),
    std=("rust('let mut v = vec![2.0, -f64::NAN, 1.0]; v.sort_by(f64::total_cmp); print(v)')", "nan 1 2"),
    gnu=("gnu('2 -nan 1', '-g')", "-nan 1 2"),
    sortie=[("sortie.sort(x)", "1 2 nan"), ("sortie.sort(x, order='arrow')", "nan 1 2")],
    without={"-nan 1 2": "text: `sortie sort -g` of the program"})

ask("NaN", "nan-of-two-columns", "rows (nan, 2), (nan, 1), (0, 3), by both columns",
    {"x": "np.array([np.nan, np.nan, 0])", "y": "np.array([2, 1, 3])", "t": "pa.table({'x': x, 'y': y})"},
    numpy=("y[np.lexsort([y, x])]", "3 1 2"),
    pandas=("pd.DataFrame({'x': x, 'y': y}).sort_values(['x', 'y'])['y']", "3 1 2"),
    polars=("pl.DataFrame({'x': x, 'y': y}).sort(['x', 'y'])['y']", "3 1 2"),
    pyarrow=("t.sort_by([('x', 'ascending'), ('y', 'ascending')])['y']", "3 1 2"),
    duckdb=("duck('SELECT y FROM t ORDER BY x, y', t)", "3 1 2"),
    datafusion=("fusion('SELECT y FROM t ORDER BY x, y', t)", "3 1 2"),
    jax=("jnp.array(y)[jnp.lexsort((jnp.array(y), jnp.array(x)))]", "3 1 2"),
    cupy=("cupy.array(y)[cupy.lexsort(cupy.array([y, x]))]", "3 1 2"),
    std=("rust('let mut v = vec![(f64::NAN, 2), (f64::NAN, 1), (0.0, 3)]; v.sort_by(|a, b| a.partial_cmp(b)"
         ".unwrap_or(std::cmp::Ordering::Equal)); print(v.iter().map(|r| r.1 as f64).collect::<Vec<f64>>())')", "2 1 3"),
    sortie=[("sortie.sort_by(t, ['x', 'y'])['y']", "3 1 2")],
    without={"2 1 3": "a comparison that is no order"})

ask("NaN", "nan-maximum", "the maximum of 2, nan, 1", NAN,
    numpy=("x.max()", "nan"),
    pandas=("pd.Series(x).max()", "2"),
    polars=("pl.Series(x).max()", "2"),
    pyarrow=("pc.max(pa.array(x))", "2"),
    duckdb=("duck('SELECT max(x) FROM t', t)", "nan"),
    datafusion=("fusion('SELECT max(x) FROM t', t)", "nan"),
    torch=("torch.tensor(x).max()", "nan"),
    cupy=("cupy.array(x).max()", "nan"),
    jax=("jnp.array(x).max()", "nan"),
    std=("rust('print([2.0, f64::NAN, 1.0].into_iter().fold(f64::NEG_INFINITY, f64::max))')", "2"),
    sortie=[("sortie.top_k(x, 1)", "2"), ("sortie.top_k(x, 1, nans='first')", "nan")])

ask("NaN", "nan-minimum", "the minimum of 2, nan, 1", NAN,
    numpy=("x.min()", "nan"),
    pandas=("pd.Series(x).min()", "1"),
    polars=("pl.Series(x).min()", "1"),
    pyarrow=("pc.min(pa.array(x))", "1"),
    duckdb=("duck('SELECT min(x) FROM t', t)", "1"),
    datafusion=("fusion('SELECT min(x) FROM t', t)", "1"),
    torch=("torch.tensor(x).min()", "nan"),
    cupy=("cupy.array(x).min()", "nan"),
    jax=("jnp.array(x).min()", "nan"),
    std=("rust('print([2.0, f64::NAN, 1.0].into_iter().fold(f64::INFINITY, f64::min))')", "1"),
    sortie=[("sortie.top_k(x, 1, largest=False)", "1"), ("sortie.top_k(x, 1, largest=False, nans='first')", "nan")])

ask("NaN", "nan-argmax", "the index of the maximum of 2, nan, 1", NAN,
    numpy=("x.argmax()", "1"),
    pandas=("pd.Series(x).argmax()", "ValueError"),
    polars=("pl.Series(x).arg_max()", "0"),
    duckdb=("duck('SELECT arg_max(i, x) FROM (SELECT x, row_number() OVER () - 1 AS i FROM t)', t)", "1"),
    torch=("torch.tensor(x).argmax()", "1"),
    cupy=("cupy.array(x).argmax()", "1"),
    jax=("jnp.array(x).argmax()", "1"),
    sortie=[("sortie.arg_top_k(x, 1)", "0"), ("sortie.arg_top_k(x, 1, nans='first')", "1")])

ask("NaN", "nan-top-k", "the two largest of 2, nan, 1, 3", {"x": "np.array([2, np.nan, 1, 3])", "t": "pa.table({'x': x})"},
    numpy=("np.sort(np.partition(x, 2)[2:])[::-1]", "nan 3"),
    pandas=("pd.Series(x).nlargest(2)", "3 2"),
    polars=("pl.Series(x).top_k(2).sort(descending=True)", "nan 3"),
    pyarrow=("pa.array(x).take(pc.top_k_unstable(pa.array(x), 2))", "3 2"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC LIMIT 2', t)", "nan 3"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC LIMIT 2', t)", "nan 3"),
    torch=("torch.topk(torch.tensor(x), 2).values", "nan 3"),
    cupy=("cupy.sort(cupy.partition(cupy.array(x), 2)[2:])[::-1]", "nan 3"),
    jax=("jax.lax.top_k(jnp.array(x), 2)[0]", "nan 3"),
    sortie=[("sortie.top_k(x, 2)", "3 2"), ("sortie.top_k(x, 2, nans='first')", "nan 3")])

ask("NaN", "nan-unique", "the distinct values of nan, 1, nan", {"x": "np.array([np.nan, 1, np.nan])", "t": "pa.table({'x': x})"},
    numpy=("np.unique(x)", "1 nan"),
    pandas=("pd.Series(pd.Series(x).unique()).sort_values()", "1 nan"),
    polars=("pl.Series(x).unique().sort()", "1 nan"),
    pyarrow=("arrow_sort(pc.unique(pa.array(x)))", "1 nan"),
    duckdb=("duck('SELECT DISTINCT x FROM t ORDER BY x', t)", "1 nan"),
    datafusion=("fusion('SELECT DISTINCT x FROM t ORDER BY x', t)", "1 nan"),
    torch=("torch.unique(torch.tensor(x))", "1 nan nan"),
    cupy=("cupy.unique(cupy.array(x))", "1 nan"),
    jax=("jnp.unique(jnp.array(x))", "1 nan"),
    sortie=[("sortie.unique(x)", "1 nan"), ("sortie.unique(x, equal_nan=False)", "1 nan nan")])

ask("NaN", "complex", "2+0i, nan+1i, 1+nan i, 1+0i, ascending",
    {"x": "np.array([2, complex(np.nan, 1), complex(1, np.nan), 1])"},
    numpy=("np.sort(x)", "(1+0j) (2+0j) (1+nanj) (nan+1j)"),
    pandas=("pd.Series(x).sort_values()", "(1+0j) (2+0j) (1+nanj) (nan+1j)"),
    torch=("torch.sort(torch.tensor(x)).values", "RuntimeError"),
    cupy=("cupy.sort(cupy.array(x))", "(1+0j) (2+0j) (1+nanj) (nan+1j)"),
    jax=("jnp.sort(jnp.array(x))", "(1+0j) (2+0j) (1+nanj) (nan+1j)"),
    sortie=[("sortie.sort(x)", "(1+0j) (2+0j) (1+nanj) (nan+1j)")],
    without={"TypeError": "an error", "(1+0j) (2+0j) (nan+1j) (1+nanj)": "NaNs in their input order",
             "(1+0j) (1+nanj) (2+0j) (nan+1j)": "the real parts first, whatever the imaginary ones are"})

# Nulls

NULL = {"a": "pa.array([2, None, 1])", "t": "pa.table({'x': a})"}

ask("Nulls", "null-ascending", "2, null, 1, ascending", NULL,
    pandas=("pd.Series([2, None, 1], dtype='Int64').sort_values()", "1 2 null"),
    polars=("pl.Series([2, None, 1]).sort()", "null 1 2"),
    pyarrow=("arrow_sort(a)", "1 2 null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "1 2 null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "1 2 null"),
    std=("rust('let mut v = vec![Some(2), None, Some(1)]; v.sort(); print(v.into_iter().map(|x| x.map_or(f64::NAN, |x| x as f64))"
         ".collect::<Vec<f64>>())').replace('nan', 'null')", "null 1 2"),
    sortie=[("sortie.sort(a)", "1 2 null"), ("sortie.sort(a, nulls='first')", "null 1 2")])

ask("Nulls", "null-descending", "2, null, 1, descending", NULL,
    pandas=("pd.Series([2, None, 1], dtype='Int64').sort_values(ascending=False)", "2 1 null"),
    polars=("pl.Series([2, None, 1]).sort(descending=True)", "null 2 1"),
    pyarrow=("arrow_sort(a, 'descending')", "2 1 null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC', t)", "2 1 null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC', t)", "null 2 1"),
    sortie=[("sortie.sort(a, descending=True)", "2 1 null"), ("sortie.sort(a, descending=True, nulls='first')", "null 2 1")])

BOTH = {"a": "pa.array([2, None, float('nan'), 1])", "t": "pa.table({'x': a})"}

ask("Nulls", "null-and-nan", "2, null, nan, 1, ascending", BOTH,
    pandas=("pd.Series(a, dtype=pd.ArrowDtype(pa.float64())).sort_values()", "1 2 nan null"),
    polars=("pl.Series(a).sort()", "null 1 2 nan"),
    pyarrow=("arrow_sort(a)", "1 2 nan null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "1 2 nan null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "1 2 nan null"),
    sortie=[("sortie.sort(a)", "1 2 nan null"), ("sortie.sort(a, nulls='first')", "null 1 2 nan")])

ask("Nulls", "null-and-nan-descending", "2, null, nan, 1, descending", BOTH,
    pandas=("pd.Series(a, dtype=pd.ArrowDtype(pa.float64())).sort_values(ascending=False)", "2 1 nan null"),
    polars=("pl.Series(a).sort(descending=True)", "null nan 2 1"),
    pyarrow=("arrow_sort(a, 'descending')", "2 1 nan null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC', t)", "nan 2 1 null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC', t)", "null nan 2 1"),
    sortie=[("sortie.sort(a, descending=True)", "2 1 nan null"),
            ("sortie.sort(a, descending=True, nans='first')", "nan 2 1 null"),
            ("sortie.sort(a, descending=True, nans='first', nulls='first')", "null nan 2 1")])

ask("Nulls", "null-and-nan-nulls-first", "2, null, nan, 1, ascending, with the option for nulls first", BOTH,
    pandas=("pd.Series(a, dtype=pd.ArrowDtype(pa.float64())).sort_values(na_position='first')", "null nan 1 2"),
    polars=("pl.Series(a).sort(nulls_last=False)", "null 1 2 nan"),
    pyarrow=("a.take(pc.sort_indices(a, null_placement='at_start'))", "null nan 1 2"),
    duckdb=("duck('SELECT x FROM t ORDER BY x NULLS FIRST', t)", "null 1 2 nan"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x NULLS FIRST', t)", "null 1 2 nan"),
    sortie=[("sortie.sort(a, nulls='first')", "null 1 2 nan"), ("sortie.sort(a, nulls='first', nans='first')", "null nan 1 2")])

ask("Nulls", "null-top-k", "the two largest of 2, null, 1, null", {"a": "pa.array([2, None, 1, None])", "t": "pa.table({'x': a})"},
    pandas=("pd.Series([2, None, 1, None], dtype='Int64').nlargest(2)", "2 1"),
    polars=("pl.Series(a).top_k(2)", "2 1"),
    pyarrow=("a.take(pc.top_k_unstable(a, 2))", "2 1"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC LIMIT 2', t)", "2 1"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC LIMIT 2', t)", "null null"),
    sortie=[("sortie.top_k(a, 2)", "2 1"), ("sortie.top_k(a, 2, nulls='first')", "null null")])

ask("Nulls", "nat", "2020, NaT, 2019, descending", {"x": "np.array(['2020', 'NaT', '2019'], 'M8[Y]')", "t": "pa.table({'x': x.astype('M8[s]')})"},
    numpy=("np.sort(x, descending=True).astype(str)", "2020 2019 NaT"),
    pandas=("pd.Series(x.astype('M8[s]')).sort_values(ascending=False).dt.year.map(year)", "2020 2019 NaT"),
    polars=("pl.Series(x.astype('M8[ms]')).sort(descending=True).dt.year()", "null 2020 2019"),
    pyarrow=("pc.year(arrow_sort(t['x'], 'descending'))", "2020 2019 null"),
    duckdb=("duck('SELECT year(x) FROM t ORDER BY x DESC', t)", "2020 2019 null"),
    datafusion=("fusion('SELECT date_part(\\'year\\', x) FROM t ORDER BY x DESC', t)", "null 2020 2019"),
    sortie=[("sortie.sort(x, descending=True).astype(str)", "2020 2019 NaT"),
            ("pc.year(sortie.sort(t['x'], descending=True))", "2020 2019 null"),
            ("pc.year(sortie.sort(t['x'], descending=True, nulls='first'))", "null 2020 2019")])

# Zeros

ZEROS = {"x": "np.array([0.0, -0.0, 0.0])", "t": "pa.table({'x': x, 'i': np.arange(3)})"}

ask("Zeros", "zeros-sort", "0.0, -0.0, 0.0: the indices of a stable sort", ZEROS,
    numpy=("np.argsort(x, kind='stable')", "0 1 2"),
    pandas=("pd.Series(x).sort_values(kind='stable').index", "0 1 2"),
    polars=("pl.DataFrame({'x': x, 'i': [0, 1, 2]}).sort('x', maintain_order=True)['i']", "0 1 2"),
    pyarrow=("pc.sort_indices(pa.array(x))", "0 1 2"),
    duckdb=("duck('SELECT i FROM t ORDER BY x', t)", "0 1 2"),
    datafusion=("fusion('SELECT i FROM t ORDER BY x', t)", "1 0 2"),
    torch=("torch.sort(torch.tensor(x), stable=True).indices", "0 1 2"),
    cupy=("cupy.argsort(cupy.array(x), kind='stable')", "0 1 2"),
    jax=("jnp.argsort(jnp.array(x))", "0 1 2"),
    std=("rust('let v = [0.0, -0.0, 0.0f64]; let mut i = vec![0, 1, 2]; i.sort_by(|a, b| v[*a as usize].total_cmp(&v[*b as usize]));"
         " print(i.into_iter().map(f64::from).collect::<Vec<f64>>())')", "1 0 2"),
    gnu=("gnu('0,0 -0,1 0,2', '-s', '-t,', '-k1,1g').replace('-0,', '').replace('0,', '')", "0 1 2"),
    sortie=[("sortie.argsort(x)", "0 1 2"), ("sortie.argsort(x, order='total')", "1 0 2")])

ask("Zeros", "zeros-unique", "how many distinct values 0.0 and -0.0 are", ZEROS,
    numpy=("len(np.unique(x))", "1"),
    pandas=("len(pd.Series(x).unique())", "1"),
    polars=("pl.Series(x).n_unique()", "1"),
    pyarrow=("len(pc.unique(pa.array(x)))", "2"),
    duckdb=("duck('SELECT count(DISTINCT x) FROM t', t)", "1"),
    datafusion=("fusion('SELECT count(DISTINCT x) FROM t', t)", "1"),
    torch=("len(torch.unique(torch.tensor(x)))", "1"),
    cupy=("len(cupy.unique(cupy.array(x)))", "1"),
    jax=("len(jnp.unique(jnp.array(x)))", "1"),
    gnu=("len(gnu('0 -0 0', '-g', '-u').split())", "1"),
    sortie=[("len(sortie.unique(x))", "1")],
    without={"2": "zeros are equal"})

ask("Zeros", "zeros-group", "how many groups 0.0 and -0.0 make", ZEROS,
    pandas=("pd.DataFrame({'x': x}).groupby('x').ngroups", "1"),
    polars=("pl.DataFrame({'x': x}).group_by('x').len().height", "1"),
    pyarrow=("t.group_by('x').aggregate([]).num_rows", "2"),
    duckdb=("duck('SELECT count(*) FROM (SELECT x FROM t GROUP BY x)', t)", "1"),
    datafusion=("fusion('SELECT count(*) FROM (SELECT x FROM t GROUP BY x)', t)", "1"),
    without={"1": "no `group_by`", "2": "no `group_by`"})

ask("Zeros", "zeros-join", "how many rows 0.0 and -0.0 join to", {"t": "pa.table({'x': np.array([0.0])})", "u": "pa.table({'x': np.array([-0.0])})"},
    pandas=("len(t.to_pandas().merge(u.to_pandas()))", "1"),
    polars=("pl.DataFrame(t).join(pl.DataFrame(u), on='x').height", "1"),
    pyarrow=("t.join(u, 'x', join_type='inner').num_rows", "0"),
    duckdb=("duck('SELECT count(*) FROM t JOIN u USING (x)', t, u)", "1"),
    datafusion=("fusion('SELECT count(*) FROM t JOIN u ON t.x = u.x', t, u)", "1"),
    without={"1": "no joins", "0": "no joins"})

ask("Zeros", "zeros-compared", "whether 0.0 = -0.0, by a filter", ZEROS,
    numpy=("int((x == 0.0).sum())", "3"),
    polars=("pl.DataFrame({'x': x}).filter(pl.col('x') == 0.0).height", "3"),
    pyarrow=("t.filter(pc.field('x') == 0.0).num_rows", "3"),
    duckdb=("duck('SELECT count(*) FROM t WHERE x = 0.0', t)", "3"),
    datafusion=("fusion('SELECT count(*) FROM t WHERE x = 0.0', t)", "3"),
    without={"3": "no filters", "2": "no filters"})

# Ties

TIES = {"x": "np.random.default_rng(0).integers(0, 4, 2000)", "t": "pa.table({'x': x, 'i': np.arange(2000)})"}

ask("Ties", "ties-ascending", "2,000 integers of 4 values, ascending, no option", TIES,
    numpy=("ties(x, np.argsort(x))", "mixed"),
    pandas=("ties(x, pd.Series(x).sort_values().index)", "mixed"),
    polars=("ties(x, pl.DataFrame(t).sort('x')['i'])", "mixed"),
    pyarrow=("ties(x, pc.sort_indices(pa.array(x)))", "input order"),
    duckdb=("ties(x, duck('SELECT i FROM t ORDER BY x', t))", "mixed"),
    datafusion=("ties(x, fusion('SELECT i FROM t ORDER BY x', t))", "mixed"),
    torch=("ties(x, torch.sort(torch.tensor(x)).indices)", "input order"),
    cupy=("ties(x, cupy.argsort(cupy.array(x)))", "input order"),
    jax=("ties(x, jnp.argsort(jnp.array(x)))", "input order"),
    gnu=("ties(x, gnu_ties(x))", "input order"),
    sortie=[("ties(x, sortie.argsort(x))", "input order")],
    without={"mixed": "`stable=False` allows it"})

ask("Ties", "ties-descending", "the same, descending", TIES,
    numpy=("ties(x, np.argsort(x, descending=True))", "mixed"),
    pandas=("ties(x, pd.Series(x).sort_values(ascending=False).index)", "mixed"),
    polars=("ties(x, pl.DataFrame(t).sort('x', descending=True)['i'])", "mixed"),
    pyarrow=("ties(x, pc.sort_indices(pa.array(x), sort_keys=[('', 'descending')]))", "input order"),
    duckdb=("ties(x, duck('SELECT i FROM t ORDER BY x DESC', t))", "mixed"),
    datafusion=("ties(x, fusion('SELECT i FROM t ORDER BY x DESC', t))", "mixed"),
    torch=("ties(x, torch.sort(torch.tensor(x), descending=True).indices)", "input order"),
    jax=("ties(x, jnp.argsort(jnp.array(x), descending=True))", "input order"),
    gnu=("ties(x, gnu_ties(x, '-r'))", "reversed"),
    sortie=[("ties(x, sortie.argsort(x, descending=True))", "input order"), ("ties(x, sortie.argsort(x)[::-1])", "reversed")],
    without={"mixed": "`stable=False` allows it"})

ask("Ties", "ties-descending-stable", "the same, descending, with the option for a stable sort", TIES,
    numpy=("ties(x, np.argsort(x, descending=True, stable=True))", "input order"),
    pandas=("ties(x, pd.Series(x).sort_values(ascending=False, kind='stable').index)", "input order"),
    polars=("ties(x, pl.DataFrame(t).sort('x', descending=True, maintain_order=True)['i'])", "input order"),
    torch=("ties(x, torch.sort(torch.tensor(x), descending=True, stable=True).indices)", "input order"),
    jax=("ties(x, jnp.argsort(jnp.array(x), descending=True, stable=True))", "input order"),
    gnu=("ties(x, gnu_ties(x, '-r', '-s'))", "input order"),
    sortie=[("ties(x, sortie.argsort(x, descending=True, stable=True))", "input order")])

ask("Ties", "ties-two-keys", "the same, by two columns that are equal, no option", TIES,
    numpy=("ties(x, np.lexsort([x, x]))", "input order"),
    pandas=("ties(x, pd.DataFrame({'x': x, 'y': x}).sort_values(['x', 'y']).index)", "input order"),
    polars=("ties(x, pl.DataFrame({'x': x, 'y': x, 'i': range(2000)}).sort(['x', 'y'])['i'])", "mixed"),
    pyarrow=("ties(x, pc.sort_indices(pa.table({'x': x, 'y': x}), sort_keys=[('x', 'ascending'), ('y', 'ascending')]))", "input order"),
    duckdb=("ties(x, duck('SELECT i FROM t ORDER BY x, x + 1', t))", "mixed"),
    datafusion=("ties(x, fusion('SELECT i FROM t ORDER BY x, x % 4', t))", "mixed"),
    jax=("ties(x, jnp.lexsort((jnp.array(x), jnp.array(x))))", "input order"),
    cupy=("ties(x, cupy.lexsort(cupy.array([x, x])))", "input order"),
    sortie=[("ties(x, sortie.lexsort([x, x]))", "input order")],
    without={"mixed": "`stable=False` allows it"})

ask("Ties", "ties-top-k", "the indices of the two largest of 1, 3, 3, 3, 2", {"x": "np.array([1, 3, 3, 3, 2])", "t": "pa.table({'x': x, 'i': np.arange(5)})"},
    numpy=("np.argpartition(x, 3)[3:]", "2 3"),
    pandas=("pd.Series(x).nlargest(2).index", "1 2"),
    polars=("pl.DataFrame(t).top_k(2, by='x')['i']", "1 2"),
    pyarrow=("pc.top_k_unstable(pa.array(x), 2)", "1 2"),
    duckdb=("duck('SELECT i FROM t ORDER BY x DESC LIMIT 2', t)", "1 2"),
    datafusion=("fusion('SELECT i FROM t ORDER BY x DESC LIMIT 2', t)", "1 2"),
    torch=("torch.topk(torch.tensor(x), 2).indices", "1 2"),
    cupy=("cupy.argpartition(cupy.array(x), 3)[3:]", "2 3"),
    jax=("jax.lax.top_k(jnp.array(x), 2)[1]", "1 2"),
    sortie=[("sortie.arg_top_k(x, 2)", "1 2")],
    without={"1 3": "any two of the three", "2 1": "any two of the three", "2 3": "any two of the three"})

ask("Ties", "ties-argmin", "the index of the minimum of 2, 1, 1", {"x": "np.array([2, 1, 1])", "t": "pa.table({'x': x, 'i': np.arange(3)})"},
    numpy=("x.argmin()", "1"),
    pandas=("pd.Series(x).argmin()", "1"),
    polars=("pl.Series(x).arg_min()", "1"),
    duckdb=("duck('SELECT arg_min(i, x) FROM t', t)", "1"),
    torch=("torch.tensor(x).argmin()", "1"),
    cupy=("cupy.array(x).argmin()", "1"),
    jax=("jnp.array(x).argmin()", "1"),
    std=("rust('print([2, 1, 1].iter().enumerate().min_by_key(|x| x.1).unwrap().0 as f64)')", "1"),
    sortie=[("sortie.arg_top_k(x, 1, largest=False)", "1")])

# Nested values

LISTS = {"a": "pa.array([[1, None], [1], [1, 2], None, []])", "t": "pa.table({'x': a})"}

ask("Nested values", "lists", "lists [1, null], [1], [1, 2], null, [], ascending", LISTS,
    polars=("pl.Series(a).sort()", "null [] [1] [1, null] [1, 2]"),
    pyarrow=("t.sort_by('x')['x']", "[] [1] [1, 2] [1, null] null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "[] [1] [1, 2] [1, null] null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "[] [1] [1, 2] [1, null] null"),
    sortie=[("sortie.sort(a)", "[] [1] [1, 2] [1, null] null"), ("sortie.sort(a, nulls='first')", "null [] [1] [1, null] [1, 2]")],
    without={"ArrowTypeError": "an error"})

ask("Nested values", "lists-descending", "the same, descending", LISTS,
    polars=("pl.Series(a).sort(descending=True)", "null [1, 2] [1, null] [1] []"),
    pyarrow=("t.sort_by([('x', 'descending')])['x']", "[1, 2] [1, null] [1] [] null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x DESC', t)", "[1, null] [1, 2] [1] [] null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x DESC', t)", "null [1, null] [1, 2] [1] []"),
    sortie=[("sortie.sort(a, descending=True)", "[1, 2] [1, null] [1] [] null"),
            ("sortie.sort(a, descending=True, nulls='first')", "null [1, null] [1, 2] [1] []")],
    without={"ArrowTypeError": "an error", "null [1, 2] [1, null] [1] []": "nulls within lists go where nulls go",
             "[1, null] [1, 2] [1] [] null": "nulls within lists go where nulls go"})

STRUCTS = {"a": "pa.array([{'a': 1, 'b': None}, {'a': 1, 'b': 2}, {'a': None, 'b': 1}, None])", "t": "pa.table({'x': a})"}

ask("Nested values", "structs", "structs (1, null), (1, 2), (null, 1), null, ascending", STRUCTS,
    polars=("pl.Series(a).sort()", "null (null, 1) (1, null) (1, 2)"),
    pyarrow=("t.sort_by('x')['x']", "(1, 2) (1, null) (null, 1) null"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "(1, 2) (1, null) (null, 1) null"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "(1, 2) (1, null) (null, 1) null"),
    sortie=[("sortie.sort(a)", "(1, 2) (1, null) (null, 1) null"), ("sortie.sort(a, nulls='first')", "null (null, 1) (1, null) (1, 2)")])

ask("Nested values", "within-lists", "a list [2, null, 1] sorted by the function for lists", {"t": "pa.table({'x': pa.array([[2, None, 1]])})"},
    polars=("pl.Series([[2, None, 1]]).list.sort()[0]", "null 1 2"),
    duckdb=("duck('SELECT unnest(list_sort(x)) FROM t', t)", "1 2 null"),
    datafusion=("fusion('SELECT unnest(array_sort(x)) FROM t', t)", "null 1 2"),
    sortie=[("sortie.sort(t['x'].chunk(0).values)", "1 2 null"), ("sortie.sort(t['x'].chunk(0).values, nulls='first')", "null 1 2")])

# Categories

ask("Categories", "ordered", "categories low < middle < high: high, low, middle, ascending",
    {"o": "pd.Categorical(['high', 'low', 'middle'], ['low', 'middle', 'high'], ordered=True)",
     "a": "pa.array(o)", "t": "pa.table({'x': a})"},
    pandas=("pd.Series(o).sort_values()", "low middle high"),
    polars=("pl.Series(['high', 'low', 'middle'], dtype=pl.Enum(['low', 'middle', 'high'])).sort()", "low middle high"),
    pyarrow=("arrow_sort(a)", "high low middle"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "low middle high"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "high low middle"),
    sortie=[("sortie.sort(a)", "low middle high"), ("sortie.sort(a.cast(pa.string()))", "high low middle")])

ask("Categories", "unordered", "categories b, c, a without an order: a, c, b, ascending",
    {"o": "pd.Categorical(['a', 'c', 'b'], ['b', 'c', 'a'])", "a": "pa.array(o)", "t": "pa.table({'x': a})"},
    pandas=("pd.Series(o).sort_values()", "b c a"),
    polars=("pl.Series(['a', 'c', 'b'], dtype=pl.Categorical).sort()", "a b c"),
    pyarrow=("arrow_sort(a)", "a b c"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "b c a"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "a b c"),
    sortie=[("sortie.sort(a)", "a b c"), ("sortie.sort(pd.Series(o))", "b c a")])

ask("Categories", "ordered-maximum", "the maximum of categories low < middle < high: high, low, middle",
    {"o": "pd.Categorical(['high', 'low', 'middle'], ['low', 'middle', 'high'], ordered=True)",
     "a": "pa.array(o)", "t": "pa.table({'x': a})"},
    pandas=("pd.Series(o).max()", "high"),
    polars=("pl.Series(['high', 'low', 'middle'], dtype=pl.Enum(['low', 'middle', 'high'])).max()", "high"),
    pyarrow=("pc.max(a)", "ArrowNotImplementedError"),
    duckdb=("duck('SELECT max(x) FROM t', t)", "high"),
    datafusion=("fusion('SELECT max(x) FROM t', t)", "middle"),
    sortie=[("sortie.top_k(a, 1)", "high"), ("sortie.top_k(a.cast(pa.string()), 1)", "middle")],
    without={"ArrowNotImplementedError": "an error"})

# Text

WORDS = {"w": "['z', '\\u00e9', 'e', 'E', 'f']", "t": "pa.table({'x': w})"}

ask("Text", "letters", "z, é, e, E, f, no option", WORDS,
    numpy=("np.sort(w)", "E e f z é"),
    pandas=("pd.Series(w).sort_values()", "E e f z é"),
    polars=("pl.Series(w).sort()", "E e f z é"),
    pyarrow=("arrow_sort(pa.array(w))", "E e f z é"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "E e f z é"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "E e f z é"),
    std=("rust_words('z \\u00e9 e E f')", "E e f z é"),
    gnu=("gnu('z \\u00e9 e E f')", "E e f z é"),
    sortie=[("sortie.sort(pa.array(w))", "E e f z é")])

ask("Text", "letters-of-a-language", "the same, by the rules of a language", WORDS,
    duckdb=("duck('SELECT x FROM t ORDER BY x COLLATE en_us', t)", "e E é f z"),
    without={"e E é f z": "no collations"})

ask("Text", "letters-without-case", "b, A, a, B, without case",
    {"w": "['b', 'A', 'a', 'B']", "t": "pa.table({'x': w})"},
    pandas=("pd.Series(w).sort_values(key=lambda s: s.str.lower(), kind='stable')", "A a b B"),
    polars=("pl.DataFrame({'x': w}).sort(pl.col('x').str.to_lowercase(), maintain_order=True)['x']", "A a b B"),
    duckdb=("duck('SELECT x FROM t ORDER BY x COLLATE nocase', t)", "A a b B"),
    datafusion=("fusion('SELECT x FROM t ORDER BY lower(x)', t)", "A a b B"),
    gnu=("gnu('b A a B', '-f', '-s')", "A a b B"),
    sortie=[("sortie_file('b A a B', keys='1,1f', stable=True)", "A a b B")])

ask("Text", "numbers-within", "a10, a9, a1, no option", {"w": "['a10', 'a9', 'a1']", "t": "pa.table({'x': w})"},
    numpy=("np.sort(w)", "a1 a10 a9"),
    pandas=("pd.Series(w).sort_values()", "a1 a10 a9"),
    polars=("pl.Series(w).sort()", "a1 a10 a9"),
    pyarrow=("arrow_sort(pa.array(w))", "a1 a10 a9"),
    duckdb=("duck('SELECT x FROM t ORDER BY x', t)", "a1 a10 a9"),
    datafusion=("fusion('SELECT x FROM t ORDER BY x', t)", "a1 a10 a9"),
    gnu=("gnu('a10 a9 a1')", "a1 a10 a9"),
    sortie=[("sortie.sort(pa.array(w))", "a1 a10 a9")])

ask("Text", "numbers-within-natural", "a10, a9, a1, a02, with the option for natural order", {},
    gnu=("gnu('a10 a9 a1 a02', '-V')", "a1 a02 a9 a10"),
    samtools=("read_names('a10 a9 a1 a02', '-n')", "a1 a02 a9 a10"),
    sortie=[("sortie_file('a10 a9 a1 a02', keys='1,1V')", "a1 a02 a9 a10")])

ask("Text", "zero-bytes", "how many distinct values a, and a with a zero byte, are", {"w": "['a', 'a\\0']", "t": "pa.table({'x': w})"},
    numpy=("len(np.unique(np.array(w)))", "1"),
    pandas=("len(pd.Series(w).unique())", "2"),
    polars=("pl.Series(w).n_unique()", "2"),
    pyarrow=("len(pc.unique(pa.array(w)))", "2"),
    duckdb=("duck('SELECT count(DISTINCT x) FROM t', t)", "2"),
    datafusion=("fusion('SELECT count(DISTINCT x) FROM t', t)", "2"),
    sortie=[("len(sortie.unique(np.array(w)))", "1"), ("len(sortie.unique(np.array(w, np.dtypes.StringDType())))", "2")])

# Quantiles

FOUR = {"x": "np.array([4, 1, 3, 2])", "t": "pa.table({'x': x})"}

ask("Quantiles", "quantile", "the quantile 0.25 of the integers 4, 1, 3, 2, no option", FOUR,
    numpy=("np.quantile(x, 0.25)", "1.75"),
    pandas=("pd.Series(x).quantile(0.25)", "1.75"),
    polars=("pl.Series(x).quantile(0.25)", "2"),
    pyarrow=("pc.quantile(pa.array(x), 0.25)[0].as_py()", "1.75"),
    duckdb=("duck('SELECT quantile(x, 0.25) FROM t', t)", "1"),
    datafusion=("fusion('SELECT percentile_cont(x, 0.25) FROM t', t)", "1.75"),
    torch=("torch.quantile(torch.tensor(x).double(), 0.25)", "1.75"),
    cupy=("cupy.quantile(cupy.array(x), 0.25)", "1.75"),
    jax=("jnp.quantile(jnp.array(x), 0.25)", "1.75"),
    sortie=[("sortie.quantile(x, 0.25)", "1.75"), ("sortie.quantile(x, 0.25, method='lower')", "1"),
            ("sortie.quantile(x, 0.25, method='higher')", "2")])

ask("Quantiles", "quantile-half", "the quantile 0.5 of the integers 1, 2, no option", {"x": "np.array([1, 2])", "t": "pa.table({'x': x})"},
    numpy=("np.quantile(x, 0.5)", "1.5"),
    pandas=("pd.Series(x).quantile(0.5)", "1.5"),
    polars=("pl.Series(x).quantile(0.5)", "2"),
    pyarrow=("pc.quantile(pa.array(x), 0.5)[0].as_py()", "1.5"),
    duckdb=("duck('SELECT quantile(x, 0.5) FROM t', t)", "1"),
    datafusion=("fusion('SELECT percentile_cont(x, 0.5) FROM t', t)", "1.5"),
    torch=("torch.quantile(torch.tensor(x).double(), 0.5)", "1.5"),
    cupy=("cupy.quantile(cupy.array(x), 0.5)", "1.5"),
    jax=("jnp.quantile(jnp.array(x), 0.5)", "1.5"),
    sortie=[("sortie.quantile(x, 0.5)", "1.5"), ("sortie.quantile(x, 0.5, method='lower')", "1"),
            ("sortie.quantile(x, 0.5, method='higher')", "2")])

ask("Quantiles", "median", "the median of the integers 4, 1, 3, 2", FOUR,
    numpy=("np.median(x)", "2.5"),
    pandas=("pd.Series(x).median()", "2.5"),
    polars=("pl.Series(x).median()", "2.5"),
    pyarrow=("pc.approximate_median(pa.array(x))", "2.5"),
    duckdb=("duck('SELECT median(x) FROM t', t)", "2.5"),
    datafusion=("fusion('SELECT median(x) FROM t', t)", "2.5"),
    torch=("torch.median(torch.tensor(x))", "2"),
    cupy=("cupy.median(cupy.array(x))", "2.5"),
    jax=("jnp.median(jnp.array(x))", "2.5"),
    std=("rust('let mut v = [4, 1, 3, 2]; print(*v.select_nth_unstable(2).1 as f64)')", "3"),
    sortie=[("sortie.median(x)", "2.5"), ("sortie.quantile(x, 0.5, method='lower')", "2"),
            ("sortie.quantile(x, 0.5, method='higher')", "3")])

ask("Quantiles", "median-nan", "the median of 1, nan, 2, 3", {"x": "np.array([1, np.nan, 2, 3])", "t": "pa.table({'x': x})"},
    numpy=("np.median(x)", "nan"),
    pandas=("pd.Series(x).median()", "2"),
    polars=("pl.Series(x).median()", "2.5"),
    pyarrow=("pc.approximate_median(pa.array(x))", "2"),
    duckdb=("duck('SELECT median(x) FROM t', t)", "2.5"),
    datafusion=("fusion('SELECT median(x) FROM t', t)", "2.5"),
    torch=("torch.median(torch.tensor(x))", "nan"),
    cupy=("cupy.median(cupy.array(x))", "nan"),
    jax=("jnp.median(jnp.array(x))", "nan"),
    sortie=[("sortie.median(x)", "nan"), ("sortie.top_k(x, 2, largest=False)[-1]", "2")],
    without={"2.5": "NaN counts as a number"})

ask("Quantiles", "median-of-large-integers", "the median of the integer 2^62 + 1", {"x": "np.array([2**62 + 1])", "t": "pa.table({'x': x})"},
    numpy=("int(np.median(x)) - 2**62", "0"),
    pandas=("int(pd.Series(x).median()) - 2**62", "0"),
    polars=("int(pl.Series(x).median()) - 2**62", "0"),
    pyarrow=("int(pc.approximate_median(pa.array(x)).as_py()) - 2**62", "0"),
    duckdb=("int(duck('SELECT median(x) FROM t', t)) - 2**62", "0"),
    datafusion=("int(fusion('SELECT median(x) FROM t', t)) - 2**62", "0"),
    torch=("int(torch.median(torch.tensor(x))) - 2**62", "1"),
    sortie=[("int(sortie.median(x)) - 2**62", "0"), ("int(sortie.quantile(x, 0.5, method='lower')) - 2**62", "1")])

ask("Quantiles", "rank", "the ranks of 2, nan, 1, 2", {"x": "np.array([2, np.nan, 1, 2])", "t": "pa.table({'x': x})"},
    pandas=("pd.Series(x).rank()", "2.5 nan 1 2.5"),
    polars=("pl.Series(x).rank()", "2.5 4 1 2.5"),
    pyarrow=("pc.rank(pa.array(x), tiebreaker='min')", "2 4 1 2"),
    duckdb=("duck('SELECT rank() OVER (ORDER BY x) AS r FROM t', t)", "1 2 2 4"),
    datafusion=("fusion('SELECT rank() OVER (ORDER BY x) AS r FROM t ORDER BY r', t)", "1 2 2 4"),
    sortie=[("sortie.rank(x, nan_policy='omit')", "2.5 nan 1 2.5")],
    without={"2.5 4 1 2.5": "NaN has no rank", "2 4 1 2": "NaN is no rank or is in no order",
             "1 2 2 4": "NaN has no rank"})

# Search

ask("Search", "search-nan", "where nan goes in 1, 2, nan: from the left", {"x": "np.array([1, 2, np.nan])"},
    numpy=("np.searchsorted(x, np.nan)", "2"),
    pandas=("pd.Series(x).searchsorted(np.nan)", "2"),
    polars=("pl.Series(x).search_sorted(float('nan'), side='left')", "2"),
    torch=("torch.searchsorted(torch.tensor(x), torch.tensor(np.nan, dtype=torch.float64))", "2"),
    cupy=("cupy.searchsorted(cupy.array(x), cupy.array(np.nan))", "2"),
    jax=("jnp.searchsorted(jnp.array(x), jnp.nan)", "2"),
    std=("rust('let y = f64::NAN; print([1.0, 2.0, y].partition_point(|x| *x < y) as f64)')", "0"),
    sortie=[("sortie.searchsorted(x, np.nan)", "2"), ("sortie.searchsorted(x, np.nan, side='right')", "3")],
    without={"0": "an order in which NaN is not last"})

ask("Search", "search-between", "where 1.5 goes in the integers 1, 2, 3: from the left", {"x": "np.array([1, 2, 3])"},
    numpy=("np.searchsorted(x, 1.5)", "1"),
    pandas=("pd.Series(x).searchsorted(1.5)", "1"),
    polars=("pl.Series(x).search_sorted(1.5, side='left')", "1"),
    torch=("torch.searchsorted(torch.tensor(x), 1.5)", "1"),
    cupy=("cupy.searchsorted(cupy.array(x), cupy.array(1.5))", "1"),
    jax=("jnp.searchsorted(jnp.array(x), 1.5)", "1"),
    sortie=[("sortie.searchsorted(x, 1.5)", "1")],
    without={"0": "rounds the query"})

# Parquet files

ask("Parquet", "declared-by-writer", "what a file that is written from sorted rows declares as its order", {"t": "pa.table({'x': [1, 2, 3]})"},
    pandas=("declared(lambda path: t.to_pandas().sort_values('x').to_parquet(path))", "nothing"),
    polars=("declared(lambda path: pl.DataFrame(t).sort('x').write_parquet(path))", "nothing"),
    pyarrow=("declared(lambda path: pq.write_table(t.sort_by('x'), path))", "nothing"),
    duckdb=("declared(lambda path: duck(f\"COPY (SELECT x FROM t ORDER BY x) TO '{path}' (FORMAT parquet)\", t))", "nothing"),
    datafusion=("declared(lambda path: fusion(f\"COPY (SELECT x FROM t ORDER BY x) TO '{path}' STORED AS PARQUET\", t))", "x"),
    without={"nothing": "the Python package writes no Parquet", "x": "the Python package writes no Parquet"})

ask("Parquet", "declared-falsely", "3, 1, 2 in a file that declares ascending order, ordered by the reader", {"path": "declared_falsely()"},
    pandas=("pd.read_parquet(path).sort_values('x')['x']", "1 2 3"),
    polars=("pl.scan_parquet(path).sort('x').collect()['x']", "3 1 2"),
    pyarrow=("pq.read_table(path).sort_by('x')['x']", "1 2 3"),
    duckdb=("duck(f\"SELECT x FROM '{path}' ORDER BY x\")", "1 2 3"),
    datafusion=("fusion_file('SELECT x FROM t ORDER BY x', path)", "3 1 2"),
    sortie=[("sortie.sort_by(pq.read_table(path), 'x')['x']", "1 2 3")],
    without={"3 1 2": "not sorted"})

ask("Parquet", "bounds-of-floats", "the bounds that a file states for 1, nan, -0.0, 0.0", {"x": "np.array([1, np.nan, -0.0, 0.0])", "t": "pa.table({'x': x})"},
    pandas=("bounds(lambda path: t.to_pandas().to_parquet(path))", "-0.0 1"),
    polars=("bounds(lambda path: pl.DataFrame(t).write_parquet(path))", "-0.0 1"),
    pyarrow=("bounds(lambda path: pq.write_table(t, path))", "-0.0 1"),
    duckdb=("bounds(lambda path: duck(f\"COPY t TO '{path}' (FORMAT parquet)\", t))", "nothing"),
    datafusion=("bounds(lambda path: fusion(f\"COPY t TO '{path}' STORED AS PARQUET\", t))", "-0.0 1"),
    without={"-0.0 1": "the Python package writes no Parquet", "-0.0 0": "the Python package writes no Parquet", "nothing": "the Python package writes no Parquet"})

# Sequencing reads

ask("Reads", "names-by-number", "reads r10, r9, R1, r1, sorted by name, natural order", {},
    samtools=("read_names('r10 r9 R1 r1', '-n')", "R1 r1 r9 r10"),
    gnu=("gnu('r10 r9 R1 r1', '-V')", "R1 r1 r9 r10"),
    sortie=[("sortie_file('r10 r9 R1 r1', keys='1,1V')", "R1 r1 r9 r10")])

ask("Reads", "names-by-bytes", "the same, order of bytes", {},
    samtools=("read_names('r10 r9 R1 r1', '-N')", "R1 r1 r10 r9"),
    gnu=("gnu('r10 r9 R1 r1')", "R1 r1 r10 r9"),
    sortie=[("sortie_file('r10 r9 R1 r1')", "R1 r1 r10 r9")])

ask("Reads", "names-with-zeros", "reads a1, a01, a001, natural order", {},
    samtools=("read_names('a1 a01 a001', '-n')", "a1 a01 a001"),
    gnu=("gnu('a1 a01 a001', '-V')", "a001 a01 a1"),
    sortie=[("sortie_file('a1 a01 a001', keys='1,1V')", "a001 a01 a1"),
            ("sortie_file('a1 a01 a001', keys='1,1V', stable=True)", "a1 a01 a001")])

ask("Reads", "contigs", "contigs chr10, chrX, chr2 of a file whose header lists chr2, chr10, chrX", {},
    samtools=("contigs_of_reads('chr10 chrX chr2', 'chr2 chr10 chrX')", "chr2 chr10 chrX"),
    bcftools=("contigs_of_variants('chr10 chrX chr2', 'chr2 chr10 chrX')", "chr2 chr10 chrX"),
    gnu=("gnu('chr10 chrX chr2')", "chr10 chr2 chrX"),
    sortie=[("sortie_file('chr10 chrX chr2')", "chr10 chr2 chrX"), ("sortie_file('chr10 chrX chr2', keys='1,1V')", "chr2 chr10 chrX")])

ask("Reads", "contigs-of-another-header", "the same, and the header lists chrX, chr10, chr2", {},
    samtools=("contigs_of_reads('chr10 chrX chr2', 'chrX chr10 chr2')", "chrX chr10 chr2"),
    bcftools=("contigs_of_variants('chr10 chrX chr2', 'chrX chr10 chr2')", "chrX chr10 chr2"),
    sortie=[("sortie.sort(pd.Series(pd.Categorical(['chr10', 'chrX', 'chr2'], ['chrX', 'chr10', 'chr2'])))", "chrX chr10 chr2")])

# CSV

CSV = {"text": "'id,cell\\n2,00501\\n1,1e2\\n3,1.10\\n'"}

ask("CSV", "cells", "cells 00501, 1e2 and 1.10, after a sort by another column", CSV,
    pandas=("pd.read_csv(io.StringIO(text)).sort_values('id').to_csv(index=False).split()[1:]", "1,100.0 2,501.0 3,1.1"),
    polars=("pl.read_csv(text.encode()).sort('id').write_csv().split()[1:]", "1,100.0 2,501.0 3,1.1"),
    pyarrow=("arrow_csv(text, 'id').split()[1:]", "1,100 2,501 3,1.1"),
    duckdb=("duck_csv(text, 'id').split()[1:]", "1,100.0 2,501.0 3,1.1"),
    datafusion=("fusion_csv(text, 'id').split()[1:]", "1,100.0 2,501.0 3,1.1"),
    gnu=("gnu(text, '-t,', '-k1,1n').split()[1:]", "1,1e2 2,00501 3,1.10"),
    sortie=[("sortie_file(text, keys='1,1n', separator=',').split()[1:]", "1,1e2 2,00501 3,1.10")],
    without={"1,100.0 2,501.0 3,1.1": "cells keep their bytes", "1,100 2,501 3,1.1": "cells keep their bytes"})

ask("CSV", "identifiers", "cells 1234567890123456789 and an empty one, after a sort by another column",
    {"text": "'id,cell\\n2,1234567890123456789\\n1,\\n'"},
    pandas=("pd.read_csv(io.StringIO(text)).sort_values('id').to_csv(index=False).split()[1:]", "1, 2,1.2345678901234568e+18"),
    polars=("pl.read_csv(text.encode()).sort('id').write_csv().split()[1:]", "1, 2,1234567890123456789"),
    pyarrow=("arrow_csv(text, 'id').split()[1:]", "1, 2,1234567890123456789"),
    duckdb=("duck_csv(text, 'id').split()[1:]", "1, 2,1234567890123456789"),
    datafusion=("fusion_csv(text, 'id').split()[1:]", "1, 2,1234567890123456789"),
    gnu=("gnu(text, '-t,', '-k1,1n').split()[1:]", "1, 2,1234567890123456789"),
    sortie=[("sortie_file(text, keys='1,1n', separator=',').split()[1:]", "1, 2,1234567890123456789")],
    without={"1, 2,1.2345678901234568e+18": "cells keep their bytes"})

# What the calls above use


def arrow_sort(array, direction="ascending"):
    import pyarrow.compute

    return array.take(pyarrow.compute.sort_indices(array, sort_keys=[("", direction)]))


def duck(sql, *tables):
    """The first column of a result of DuckDB. The tables are called t and u."""
    import duckdb

    connection = duckdb.connect()
    for name, table in zip("tu", tables):
        connection.register(name, table)
    return first_column(connection.execute(sql).to_arrow_table())


def fusion(sql, *tables):
    """The same of DataFusion."""
    import datafusion

    context = datafusion.SessionContext()
    for name, table in zip("tu", tables):
        context.from_arrow(table, name=name)
    return first_column(context.sql(sql).to_arrow_table())


def fusion_file(sql, path):
    import datafusion

    context = datafusion.SessionContext()
    context.register_parquet("t", path)
    return first_column(context.sql(sql).to_arrow_table())


def first_column(table):
    values = table.column(0).to_pylist()
    return values if len(values) != 1 else values[0]


def year(value):
    return "NaT" if value != value else int(value)


def ties(keys, order):
    """What became of the order of equal keys."""
    import numpy as np

    order = np.array(plain(order))
    same = keys[order][1:] == keys[order][:-1]
    steps = np.diff(order)[same]
    return "input order" if (steps > 0).all() else "reversed" if (steps < 0).all() else "mixed"


def gnu(text, *options):
    """The lines that GNU sort writes, in the locale C. Words without a line end are lines."""
    lines = text if "\n" in text else "\n".join(text.split()) + "\n"
    run = subprocess.run(["sort", *options], input=lines, text=True, capture_output=True, check=True, env=os.environ | {"LC_ALL": "C"})
    return run.stdout if "\n" in text else " ".join(run.stdout.split("\n")[:-1])


def gnu_ties(keys, *options):
    lines = "\n".join(f"{key},{index:04}" for index, key in enumerate(keys)) + "\n"
    return [int(line.split(",")[1]) for line in gnu(lines, "-t,", "-k1,1n", *options).split()]


def rust(body):
    """What a program prints with Rust's standard library: a number or a list of numbers."""
    program = """
        #[allow(dead_code)] trait Show { fn show(self) -> String; }
        impl Show for f64 { fn show(self) -> String { self.to_string() } }
        impl Show for Vec<f64> { fn show(self) -> String { self.iter().map(f64::to_string).collect::<Vec<_>>().join(" ") } }
        fn print(x: impl Show) { println!("{}", x.show()) }
        fn main() { BODY }
    """
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "main.rs")
        source.write_text(program.replace("BODY", body))
        subprocess.run(["rustc", "--edition=2021", source.name], cwd=folder, check=True)
        return subprocess.run([source.with_suffix("")], text=True, capture_output=True, check=True).stdout.strip().replace("NaN", "nan")


def rust_words(words):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "main.rs")
        source.write_text(f"fn main() {{ let mut v = {json.dumps(words.split(), ensure_ascii=False)}; v.sort(); println!(\"{{}}\", v.join(\" \")) }}")
        subprocess.run(["rustc", "--edition=2021", source.name], cwd=folder, check=True)
        return subprocess.run([source.with_suffix("")], text=True, capture_output=True, check=True).stdout.strip()


def in_new_process(program, *arguments):
    """What a program of Python prints: pysam keeps the options of one command for the next ones of a process."""
    return subprocess.run([sys.executable, "-c", program, *arguments], text=True, capture_output=True, check=True).stdout.strip()


def read_names(names, option):
    reads = [f"{name}\t0\tchr1\t1\t60\t4M\t*\t0\t0\tACGT\tIIII" for name in names.split()]
    return samtools_sort(["@SQ\tSN:chr1\tLN:1000", *reads], "query_name", option)


def contigs_of_reads(contigs, header):
    reads = [f"r\t0\t{contig}\t1\t60\t4M\t*\t0\t0\tACGT\tIIII" for contig in contigs.split()]
    return samtools_sort([*[f"@SQ\tSN:{contig}\tLN:1000" for contig in header.split()], *reads], "reference_name")


def samtools_sort(lines, field, *options):
    program = """
import sys, pysam
folder, field, *options = sys.argv[1:]
pysam.sort(*options, "-o", f"{folder}/out.bam", f"{folder}/in.sam")
with pysam.AlignmentFile(f"{folder}/out.bam") as file:
    print(*[getattr(read, field) for read in file.fetch(until_eof=True)])
"""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.sam").write_text("\n".join(["@HD\tVN:1.6", *lines]) + "\n")
        return in_new_process(program, folder, field, *options)


def contigs_of_variants(contigs, header):
    program = """
import sys, pysam, pysam.bcftools
folder = sys.argv[1]
pysam.bcftools.sort("-o", f"{folder}/out.vcf", f"{folder}/in.vcf", catch_stdout=False)
with pysam.VariantFile(f"{folder}/out.vcf") as file:
    print(*[record.chrom for record in file])
"""
    lines = ["##fileformat=VCFv4.2", *[f"##contig=<ID={contig}>" for contig in header.split()], "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO",
             *[f"{contig}\t1\t.\tA\tC\t.\t.\t." for contig in contigs.split()]]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.vcf").write_text("\n".join(lines) + "\n")
        return in_new_process(program, folder)


def sortie_file(text, **options):
    """The lines that `sortie.sort_file` writes, as `gnu` returns them."""
    import sortie

    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder, "in.txt"), pathlib.Path(folder, "out.txt")
        source.write_text(text if "\n" in text else "\n".join(text.split()) + "\n")
        sortie.sort_file(source, result, format="lines", **options)
        return result.read_text() if "\n" in text else " ".join(result.read_text().split("\n")[:-1])


def written(write):
    """The metadata of the Parquet file that a function writes."""
    import pyarrow.parquet

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.parquet"
        write(path)
        return pyarrow.parquet.ParquetFile(path).metadata


def declared(write):
    columns = written(write).row_group(0).sorting_columns
    return "x" if columns else "nothing"


def bounds(write):
    statistics = written(write).row_group(0).column(0).statistics
    return [statistics.min, statistics.max] if statistics is not None and statistics.has_min_max else "nothing"


def declared_falsely():
    """The path of a file whose rows are not in the order that it declares. It lives as long as the process."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tempfile.TemporaryDirectory()
    KEPT.append(folder)
    path = f"{folder.name}/x.parquet"
    pq.write_table(pa.table({"x": [3, 1, 2]}), path, sorting_columns=[pq.SortingColumn(0)])
    return path


KEPT = []


def arrow_csv(text, column):
    import pyarrow.csv

    result = io.BytesIO()
    pyarrow.csv.write_csv(pyarrow.csv.read_csv(io.BytesIO(text.encode())).sort_by(column), result)
    return result.getvalue().decode()


def duck_csv(text, column):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.csv").write_text(text)
        duck(f"COPY (SELECT * FROM read_csv('{folder}/in.csv') ORDER BY {column}) TO '{folder}/out.csv' (HEADER)")
        return pathlib.Path(folder, "out.csv").read_text()


def fusion_csv(text, column):
    import datafusion

    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "in.csv").write_text(text)
        context = datafusion.SessionContext()
        context.register_csv("t", f"{folder}/in.csv")
        context.sql(f"COPY (SELECT * FROM t ORDER BY {column}) TO '{folder}/out.csv' STORED AS CSV").collect()
        return pathlib.Path(folder, "out.csv").read_text()
