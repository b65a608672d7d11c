//! Sorts Parquet and Arrow files that pyarrow writes, and reads the results with pyarrow and DuckDB.
//!
//! They are those of `python3`, or of the interpreter that `SORTIE_PYTHON` names.

use std::fs;
use std::path::Path;
use std::process::Command;

use sortie_files::formats::Choices;
use sortie_files::formats::columnar::{Columnar, Verdict, check_columnar, sort_columnar, verify};
use sortie_files::formats::tables::ColumnKey;
use sortie_files::{Error, Input, Temporary};

/// What all scripts begin with. `table` has the types that people have, with nulls and ties; `same` compares a result with Arrow's own
/// stable sort of the input, row by row.
const PRELUDE: &str = r#"
import sys, datetime, decimal, random, struct, pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as feather, duckdb
folder = sys.argv[1] + "/"
def table(rows, seed=1):
    r = random.Random(seed)
    some = lambda f: [None if r.random() < .1 else f() for _ in range(rows)]
    text = lambda: r.choice(["", "a", "ä", "b" * 40, "zz"]) + str(r.randrange(20))
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "i": pa.array(some(lambda: r.randrange(-50, 50)), pa.int32()),
        "u": pa.array(some(lambda: r.randrange(2**64)), pa.uint64()),
        "f": pa.array(some(lambda: r.choice([1.5, -2.0, float("inf"), float("nan"), r.random()])), pa.float64()),
        "s": pa.array(some(text), pa.string()),
        "d": pa.array(some(lambda: decimal.Decimal(r.randrange(-10**6, 10**6)).scaleb(-2)), pa.decimal128(20, 2)),
        "t": pa.array(some(lambda: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=r.randrange(10**6))), pa.timestamp("us", "UTC")),
        "b": pa.array(some(lambda: r.random() < .5), pa.bool_()),
        "c": pa.array(some(text), pa.string()).dictionary_encode(),
        "l": pa.array(some(lambda: [r.randrange(9) for _ in range(r.randrange(4))]), pa.list_(pa.int16())),
        "n": pa.array(some(lambda: {"x": r.randrange(9), "y": [text()]}), pa.struct([("x", pa.int8()), ("y", pa.list_(pa.string()))])),
        "m": pa.array(some(lambda: [("k", r.randrange(5))]), pa.map_(pa.string(), pa.int32())),
    }).replace_schema_metadata({"made by": "a test"})
def read(path):
    return pq.read_table(path) if path.endswith("parquet") else feather.read_table(path)
def ranks(column, desc):
    # Nulls come last in both directions, and NaNs are the greatest.
    values = column.to_pylist()
    plain = lambda v: v.encode() if isinstance(v, str) else tuple(v) if isinstance(v, list) else v
    key = lambda v: (v != v, 0 if v != v else plain(v))
    order = {k: i for i, k in enumerate(sorted({key(v) for v in values if v is not None}))}
    return [len(order) if v is None else (len(order) - 1 - order[key(v)] if desc else order[key(v)]) for v in values]
def same(before, after, *keys):
    a, b = read(before), read(after)
    # The formats name the elements of lists differently.
    is_converted = before.endswith("parquet") != after.endswith("parquet")
    assert a.schema.equals(b.schema, check_metadata=not is_converted), (a.schema, b.schema)
    assert b.schema.metadata[b"made by"] == b"a test"
    columns = [ranks(a[name], desc) for name, desc in keys]
    order = sorted(range(a.num_rows), key=lambda i: [c[i] for c in columns])
    assert b["id"].to_pylist() == [a["id"][i].as_py() for i in order], "order"
    expected = a.take(pa.array(order, pa.int64())) if a.num_rows else a
    for name in a.column_names:
        assert repr(b[name].to_pylist()) == repr(expected[name].to_pylist()), name
"#;

/// A folder, and scripts that write to it and read it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn input(&self, name: &str) -> Input {
        Input::named(&self.0.path().join(name))
    }

    #[track_caller]
    fn python(&self, script: &str) -> String {
        let interpreter = std::env::var_os("SORTIE_PYTHON").unwrap_or_else(|| "python3".into());
        let run = Command::new(interpreter)
            .arg("-c")
            .arg([PRELUDE, script].concat())
            .arg(self.0.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }

    fn sort_with(&self, from: &[&str], to: &str, by: &str, choices: &Choices) -> Result<Columnar, Error> {
        let table = Columnar::by(ColumnKey::list(by).unwrap());
        let inputs: Vec<Input> = from.iter().map(|name| self.input(name)).collect();
        sort_columnar(&table, &inputs, Some(&self.0.path().join(to)), choices)?;
        Ok(table)
    }

    #[track_caller]
    fn sort(&self, from: &str, to: &str, by: &str) {
        self.sort_with(&[from], to, by, &Choices::default()).unwrap();
    }

    fn choices(&self, memory: u64) -> Choices {
        let temporary = Temporary { folders: vec![self.0.path().to_owned()], ..Temporary::default() };
        Choices { memory: Some(memory), temporary, ..Choices::default() }
    }

    fn verify(&self, name: &str) -> Verdict {
        verify(&self.input(name)).unwrap()
    }
}

#[test]
fn all_types_are_sorted_by_each_key_and_kept() {
    let folder = Folder::new();
    folder.python(r#"t = table(1000); pq.write_table(t, folder + "in.parquet", row_group_size=300)"#);
    for (by, keys) in [
        ("i", r#"("i", False)"#),
        ("u:number:desc", r#"("u", True)"#),
        ("f:desc,id:desc", r#"("f", True), ("id", True)"#),
        ("s:text,i:desc", r#"("s", False), ("i", True)"#),
        ("d", r#"("d", False)"#),
        ("t:date:desc", r#"("t", True)"#),
        ("b,c,4", r#"("b", False), ("c", False), ("f", False)"#),
        ("l,id", r#"("l", False), ("id", False)"#),
    ] {
        folder.sort("in.parquet", "out.parquet", by);
        folder.python(&format!(r#"same(folder + "in.parquet", folder + "out.parquet", {keys})"#));
    }
}

#[test]
fn files_keep_row_groups_codecs_metadata_and_statistics() {
    let folder = Folder::new();
    folder.python(
        r#"
pq.write_table(table(1000), folder + "in.parquet", row_group_size=300, compression={"id": "zstd", "i": "gzip", "s": "none",
    "u": "snappy", "f": "lz4", "d": "brotli"}, use_dictionary=["s", "c"])"#,
    );
    folder.sort("in.parquet", "out.parquet", "s,i:desc");
    let said = folder.python(
        r#"
a, b = (pq.ParquetFile(folder + name).metadata for name in ["in.parquet", "out.parquet"])
assert a.schema.equals(b.schema) and a.metadata == b.metadata and a.num_row_groups == b.num_row_groups
for g in range(a.num_row_groups):
    assert a.row_group(g).num_rows == b.row_group(g).num_rows
    for c in range(a.num_columns):
        x, y = a.row_group(g).column(c), b.row_group(g).column(c)
        assert x.compression == y.compression and x.has_dictionary_page == y.has_dictionary_page, (x, y)
        assert y.statistics is not None and y.has_column_index
print(b.row_group(1).sorting_columns)
names = [b.row_group(0).column(c).path_in_schema for c in range(b.num_columns)]
assert [names[k.column_index] for k in b.row_group(1).sorting_columns] == ["s", "i"]
assert duckdb.sql(f"SELECT count(*), sum(id) FROM '{folder}out.parquet'").fetchall() == [(1000, 499500)]"#,
    );
    assert!(said.contains("descending=True"), "{said}");
    assert_eq!(folder.verify("out.parquet"), Verdict::True { order: "'s', 'i' desc".into(), groups: 4 });
    assert_eq!(folder.verify("in.parquet"), Verdict::Undeclared);
}

#[test]
fn arrow_files_are_sorted_and_converted() {
    let folder = Folder::new();
    folder.python(
        r#"
t = table(2000)
feather.write_feather(t, folder + "in.arrow", compression="zstd", chunksize=300)
feather.write_feather(t, folder + "plain.feather", compression="uncompressed")
pq.write_table(t, folder + "in.parquet")"#,
    );
    for (from, to) in [
        ("in.arrow", "out.arrow"),
        ("plain.feather", "out.feather"),
        ("in.arrow", "from_arrow.parquet"),
        ("in.parquet", "from_parquet.arrow"),
    ] {
        folder.sort(from, to, "s:desc,u");
        folder.python(&format!(r#"same(folder + "{from}", folder + "{to}", ("s", True), ("u", False))"#));
    }
    let size = |name: &str| fs::metadata(folder.0.path().join(name)).unwrap().len();
    assert!(size("out.arrow") < size("out.feather") * 3 / 4, "the codec is kept");
    assert!(matches!(folder.verify("from_arrow.parquet"), Verdict::True { .. }));
}

#[test]
fn rows_that_do_not_fit_in_memory_are_merged_from_disk_in_the_same_order() {
    let folder = Folder::new();
    folder.python(
        r#"
t = table(20000)
pq.write_table(t, folder + "in.parquet", row_group_size=7000)
feather.write_feather(t.drop(["c"]), folder + "in.arrow", chunksize=1000)"#,
    );
    for (from, to) in [("in.parquet", "out.parquet"), ("in.arrow", "out.arrow")] {
        let before = fs::read_dir(folder.0.path()).unwrap().count();
        folder.sort_with(&[from], to, "s:desc,i", &folder.choices(1 << 20)).unwrap();
        assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), before + 1, "no temporary file is left");
        folder.python(&format!(r#"same(folder + "{from}", folder + "{to}", ("s", True), ("i", False))"#));
    }
    // Once, such little memory made thousands of row groups.
    let groups = folder.python(r#"print(pq.ParquetFile(folder + "out.parquet").metadata.num_row_groups)"#);
    assert!(groups.trim().parse::<usize>().unwrap() < 50, "{groups}");
    let few = Choices { top: Some(700), ..folder.choices(1 << 20) };
    folder.sort_with(&["in.parquet"], "top.parquet", "i,s", &few).unwrap();
    let once = Choices { unique: true, ..folder.choices(1 << 20) };
    folder.sort_with(&["in.parquet"], "once.parquet", "s,b", &once).unwrap();
    folder.python(
        r#"
a, top, once = (read(folder + name) for name in ["in.parquet", "top.parquet", "once.parquet"])
columns = [ranks(a[name], False) for name in ["i", "s"]]
assert top["id"].to_pylist() == sorted(range(20000), key=lambda i: [c[i] for c in columns])[:700]
first, columns = {}, [ranks(a[name], False) for name in ["s", "b"]]
for i in range(20000): first.setdefault(tuple(c[i] for c in columns), i)
assert once["id"].to_pylist() == [first[key] for key in sorted(first)]"#,
    );
    // A column of an Arrow file has one dictionary for all rows.
    let refused =
        folder.sort_with(&["in.parquet"], "out2.arrow", "s", &folder.choices(1 << 20)).err().unwrap();
    assert!(refused.to_string().contains("column 'c' is a dictionary"), "{refused}");
}

#[test]
fn no_declaration_is_false() {
    let folder = Folder::new();
    folder.python(
        r#"
nan = struct.unpack("<d", struct.pack("<Q", 0xfff8000000000000))[0]
pq.write_table(pa.table({"f": [1.0, nan, -1.0], "g": [0.0, -0.0, 0.0], "i": [1, 3, 2], "s": ["10", "9", "x"], "l": [[1], [], [2]],
    "nan": [float("nan"), 1.0, 2.0]}), folder + "in.parquet")"#,
    );
    for (by, stated) in [
        ("f,i", ""),
        ("i,f", "'i'"),
        ("g,i", "'g'"),
        ("g:desc:nulls-first,i", "'g' desc nulls first"),
        ("i,s:number", "'i'"),
        ("s:text,i", "'s', 'i'"),
        ("l,i", ""),
        ("nan:desc,i:desc", "'nan' desc, 'i' desc"),
    ] {
        folder.sort("in.parquet", "out.parquet", by);
        let expected = match stated {
            "" => Verdict::Undeclared,
            order => Verdict::True { order: order.into(), groups: 1 },
        };
        assert_eq!(folder.verify("out.parquet"), expected, "{by}");
    }
    // As another program may have written it.
    folder.python(
        r#"
t = pa.table({"a": [1, 2, 2, 4, 3], "b": [1, 1, 2, 3, 4]})
pq.write_table(t, folder + "false.parquet", row_group_size=3, sorting_columns=[pq.SortingColumn(0)])
pq.write_table(t, folder + "true.parquet", sorting_columns=[pq.SortingColumn(1), pq.SortingColumn(0)])
pq.write_table(t, folder + "reverse.parquet", sorting_columns=[pq.SortingColumn(1, descending=True)])"#,
    );
    assert_eq!(folder.verify("false.parquet"), Verdict::False { order: "'a'".into(), group: 2, row: 2 });
    assert!(matches!(folder.verify("true.parquet"), Verdict::True { .. }));
    assert!(matches!(folder.verify("reverse.parquet"), Verdict::False { row: 3, .. }));
}

#[test]
fn text_is_sorted_as_another_type_and_counted() {
    let folder = Folder::new();
    folder.python(
        r#"pq.write_table(pa.table({"id": [0, 1, 2, 3], "s": ["10", "x", "9", None]}), folder + "in.parquet")"#,
    );
    let table = folder.sort_with(&["in.parquet"], "out.parquet", "s:number", &Choices::default()).unwrap();
    assert_eq!(table.surprises(), ["1 value of column 's' not of type number, sorted as null"]);
    folder.python(r#"assert read(folder + "out.parquet")["id"].to_pylist() == [2, 0, 1, 3]"#);
    let mut strict = Columnar::by(ColumnKey::list("s:number").unwrap());
    strict.strict = true;
    let refused =
        sort_columnar(&strict, &[folder.input("in.parquet")], None, &Choices::default()).unwrap_err();
    assert!(
        refused.to_string().contains("in.parquet: row 2: 'x' in column 's' is not a number"),
        "{refused}"
    );
    for (by, said) in [
        ("id:text", "column 'id' holds Int64, which cannot be sorted as text"),
        ("nope", "there is no column 'nope'; there are 'id', 's'"),
        ("3", "there is no column 3; there are 2"),
    ] {
        let refused =
            folder.sort_with(&["in.parquet"], "out.parquet", by, &Choices::default()).err().unwrap();
        assert!(refused.to_string().contains(said), "{by}: {refused}");
    }
    for name in ["out.CSV", "out.parquet.gz"] {
        let refused = folder.sort_with(&["in.parquet"], name, "id", &Choices::default()).err().unwrap();
        assert!(refused.to_string().contains(&format!("{name} would be a Parquet file")), "{refused}");
    }
}

#[test]
fn disorder_is_found() {
    let folder = Folder::new();
    folder.python(
        r#"pq.write_table(pa.table({"a": [1, 2, 2, 1], "b": ["x", "y", "z", "z"]}), folder + "in.parquet", row_group_size=2)
feather.write_feather(pa.table({"a": [1, 2, 2, 1], "b": ["x", "y", "z", "z"]}), folder + "in.arrow", chunksize=3)"#,
    );
    for name in ["in.parquet", "in.arrow"] {
        let check = |by: &str, unique| {
            let table = Columnar::by(ColumnKey::list(by).unwrap());
            check_columnar(&table, &folder.input(name), &Choices { unique, ..Choices::default() }).unwrap()
        };
        assert_eq!(check("a", false), Some(4));
        assert_eq!(check("b", false), None);
        assert_eq!(check("b", true), Some(4));
        assert_eq!(check("b,a", false), Some(4));
        assert_eq!(check("b,a:desc", true), None);
    }
}

#[test]
fn several_files_are_one_table_and_an_output_may_be_an_input() {
    let folder = Folder::new();
    folder.python(
        r#"
for k in range(3): pq.write_table(table(100, k), folder + f"{k}.parquet")
pq.write_table(pa.table({"i": [1]}), folder + "other.parquet")
pq.write_table(table(0), folder + "empty.parquet")"#,
    );
    let inputs = ["0.parquet", "1.parquet", "empty.parquet", "2.parquet"];
    folder.sort_with(&inputs, "0.parquet", "s", &Choices::default()).unwrap();
    folder.python(
        r#"
all = [row for k in range(3) for row in table(100, k).to_pylist()]
all.sort(key=lambda row: (row["s"] is None, (row["s"] or "").encode()))
assert repr(read(folder + "0.parquet").to_pylist()) == repr(all)"#,
    );
    folder.sort("empty.parquet", "out.parquet", "s");
    folder.python(r#"same(folder + "empty.parquet", folder + "out.parquet", ("s", False))"#);
    let refused = folder
        .sort_with(&["1.parquet", "other.parquet"], "out.parquet", "i", &Choices::default())
        .err()
        .unwrap();
    assert!(refused.to_string().contains("other.parquet: its columns are not those of"), "{refused}");
    folder.python(
        r#"
t = pa.table([pa.array([1, 2])], schema=pa.schema([pa.field("i", pa.int64(), nullable=False)]))
pq.write_table(t, folder + "whole.parquet"); feather.write_feather(t, folder + "whole.arrow")
pq.write_table(pa.table({"i": pa.array([1, 2], pa.int32())}), folder + "narrow.parquet")
open(folder + "x.csv", "w").write("i\n1\n")"#,
    );
    for (name, said) in [
        ("narrow.parquet", "'i' of Int32, with nulls instead of 'i' of Int64, with nulls"),
        ("whole.parquet", "'i' of Int64, without nulls instead of 'i' of Int64, with nulls"),
        ("whole.arrow", "Parquet and Arrow files have other types"),
        ("x.csv", "x.csv: this is neither a Parquet nor an Arrow IPC file"),
    ] {
        let inputs = ["other.parquet", name];
        let refused = folder.sort_with(&inputs, "out.parquet", "i", &Choices::default()).err().unwrap();
        assert!(refused.to_string().contains(said), "{name}: {refused}");
    }
}

/// Once, the first input alone said how many rows a row group has, and how they are compressed.
#[test]
fn a_small_first_input_does_not_make_small_row_groups() {
    let folder = Folder::new();
    folder.python(
        r#"
pq.write_table(table(0), folder + "empty.parquet", compression="zstd")
pq.write_table(table(2), folder + "two.parquet", compression="zstd")
pq.write_table(table(3000), folder + "large.parquet", compression="zstd")
pq.write_table(table(3000), folder + "groups.parquet", row_group_size=500)
for name in ["empty", "two", "large"]: feather.write_feather(read(folder + name + ".parquet"), folder + name + ".arrow")"#,
    );
    for (inputs, groups) in [
        (["empty.parquet", "two.parquet", "large.parquet"], 1),
        (["two.parquet", "large.parquet", "empty.parquet"], 1),
        (["two.parquet", "groups.parquet", "empty.parquet"], 7),
    ] {
        folder.sort_with(&inputs, "out.parquet", "i", &Choices::default()).unwrap();
        let said = folder.python(
            r#"f = pq.ParquetFile(folder + "out.parquet").metadata; print(f.num_row_groups, f.row_group(0).column(0).compression)"#,
        );
        assert_eq!(said, format!("{groups} ZSTD\n"), "{inputs:?}");
    }
    folder
        .sort_with(&["empty.arrow", "two.arrow", "large.arrow"], "out.arrow", "i", &Choices::default())
        .unwrap();
    let said = folder.python(r#"print(pa.ipc.open_file(folder + "out.arrow").num_record_batches)"#);
    assert_eq!(said, "1\n");
}

/// Once, the indices of dictionaries were as narrow as those of a row group need to be, though the result has the values of all.
#[test]
fn dictionaries_of_all_row_groups_have_room_together() {
    let folder = Folder::new();
    folder.python(
        r#"
words = lambda *w: pa.table({"c": pa.array(w).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))})
with pq.ParquetWriter(folder + "in.parquet", words("a").schema) as out:
    for some in [words("d", "b", "d"), words("a", "c"), words("e")]: out.write_table(some)"#,
    );
    folder.sort("in.parquet", "out.parquet", "c:desc");
    folder.python(
        r#"
a, b = (pq.ParquetFile(folder + name) for name in ["in.parquet", "out.parquet"])
assert b.read()["c"].to_pylist() == ["e", "d", "d", "c", "b", "a"]
types = [f.metadata.metadata[b"ARROW:schema"] for f in [a, b]]
assert types[0] != types[1], "the indices are said to be narrow""#,
    );
}

/// Once, the time of day was lost, and an order stated that the days alone do not have.
#[test]
fn dates_with_a_time_of_day_are_not_cut_for_parquet() {
    let folder = Folder::new();
    folder.python(
        r#"
days = lambda *d: pa.table({"d": pa.array([None if x is None else int(x * 86_400_000) for x in d], pa.int64()).cast(pa.date64())})
feather.write_feather(days(3, 1, None, 2), folder + "whole.arrow")
nested = lambda t: pa.table({"l": pa.array([[x] for x in range(4)], pa.list_(pa.int64())), "d": t["d"]})
feather.write_feather(nested(days(3, 1, None, 2)), folder + "nested.arrow")"#,
    );
    folder.sort("whole.arrow", "out.parquet", "d");
    folder.sort("nested.arrow", "out.parquet", "d");
    folder.sort("whole.arrow", "out.arrow", "d");
    // Arrow's reader takes such a number for what it is.
    folder.python(
        r#"
numbers = pa.array([90_000_000, 86_400_000], pa.int64())
part = pa.Array.from_buffers(pa.date64(), 2, numbers.buffers())
feather.write_feather(pa.table({"d": part, "i": [1, 2]}), folder + "part.arrow")
feather.write_feather(pa.table({"l": pa.ListArray.from_arrays([0, 2], part)}), folder + "list.arrow")"#,
    );
    for (name, by, column) in [("part.arrow", "i", "d"), ("list.arrow", "1", "l")] {
        let refused =
            folder.sort_with(&[name], "part.parquet", by, &Choices::default()).err().unwrap().to_string();
        assert!(
            refused.contains(&format!("{name}: column '{column}' has dates with a time of day")),
            "{refused}"
        );
        assert!(!folder.0.path().join("part.parquet").exists());
        folder.sort(name, "part_out.arrow", by);
    }
    folder.sort("part.arrow", "out.arrow", "d");
    folder.python(
        r#"assert read(folder + "out.arrow")["d"].cast(pa.int64()).to_pylist() == [86_400_000, 90_000_000]"#,
    );
}

/// Once, these became numbers without a unit, for Parquet has no seconds.
#[test]
fn times_in_seconds_are_milliseconds_in_parquet() {
    let folder = Folder::new();
    folder.python(
        r#"
t = pa.table({"k": [2, 1, 3], "t": pa.array([5, None, -7], pa.timestamp("s")), "z": pa.array([5, 6, 7], pa.timestamp("s", "Europe/Berlin")),
    "h": pa.array([5, 6, None], pa.time32("s")), "l": pa.array([[1, 2], None, []], pa.list_(pa.timestamp("s"))),
    "n": pa.array([{"x": 1}, {"x": None}, None], pa.struct([("x", pa.time32("s"))]))})
feather.write_feather(t, folder + "in.arrow")"#,
    );
    for by in ["k", "t,k", "h:desc,z"] {
        folder.sort("in.arrow", "out.parquet", by);
        folder.sort("in.arrow", "out.arrow", by);
        folder.python(
            r#"
a, b, c = (read(folder + name) for name in ["in.arrow", "out.arrow", "out.parquet"])
assert a.schema == b.schema
assert [str(f.type) for f in c.schema][:4] == ["int64", "timestamp[ms]", "timestamp[ms, tz=Europe/Berlin]", "time32[ms]"], c.schema
assert b.to_pylist() == c.to_pylist()
assert duckdb.sql(f"SELECT t FROM '{folder}out.parquet'").fetchall() == [(x,) for x in b["t"].to_pylist()]"#,
        );
    }
}

/// Once, lists of decimals lost their codec, as their elements have another name in the result.
#[test]
fn nested_decimals_keep_their_codec() {
    let folder = Folder::new();
    folder.python(
        r#"
d = lambda x: decimal.Decimal(x).scaleb(-2)
t = pa.table({"l": pa.array([[d(15)], None, [None, d(-3)]] * 100, pa.list_(pa.decimal128(5, 2))), "k": [3, 1, 2] * 100,
    "n": pa.array([{"x": d(7), "y": "a"}, None, {"x": None, "y": None}] * 100, pa.struct([("x", pa.decimal128(5, 2)), ("y", pa.string())]))})
pq.write_table(t, folder + "in.parquet", compression="zstd", use_compliant_nested_type=False, use_dictionary=False)"#,
    );
    folder.sort("in.parquet", "out.parquet", "k");
    folder.python(
        r#"
a, b = (read(folder + name) for name in ["in.parquet", "out.parquet"])
assert b.to_pylist() == sorted(a.to_pylist(), key=lambda row: row["k"])
group = pq.ParquetFile(folder + "out.parquet").metadata.row_group(0)
for c in range(group.num_columns):
    assert group.column(c).compression == "ZSTD" and not group.column(c).has_dictionary_page, group.column(c)"#,
    );
}

/// Once, rows with equal unions changed places.
#[test]
fn unions_are_carried_but_no_keys() {
    let folder = Folder::new();
    folder.python(
        r#"
n = 300
u = pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [pa.array([i % 3 for i in range(n)])])
feather.write_feather(pa.table({"u": u, "id": list(range(n))}), folder + "in.arrow")"#,
    );
    folder.sort("in.arrow", "out.arrow", "id:desc");
    folder
        .python(r#"assert read(folder + "out.arrow")["u"].to_pylist() == [i % 3 for i in range(300)][::-1]"#);
    let refused = folder.sort_with(&["in.arrow"], "out.arrow", "u", &Choices::default()).err().unwrap();
    let said = refused.to_string();
    assert!(said.contains("column 'u' holds ") && said.ends_with("which cannot be sorted"), "{said}");
}

/// Texts that are few take little in a file, and much in memory. DuckDB gives them Bloom filters. Once, these counted as rows, so a small
/// limit made a row group of a few rows.
#[test]
fn long_texts_of_a_dictionary_are_sorted_within_little_memory() {
    let folder = Folder::new();
    folder.python(
        r#"
n = 1500
t = pa.table({"i": [k * 7919 % n for k in range(n)], "s": [chr(97 + k % 5) * 8_000 for k in range(n)]})
pq.write_table(t, folder + "in.parquet")
duckdb.sql(f"COPY (SELECT * FROM '{folder}in.parquet') TO '{folder}duckdb.parquet'")"#,
    );
    for from in ["in.parquet", "duckdb.parquet"] {
        folder.sort_with(&[from], "out.parquet", "i", &folder.choices(4 << 20)).unwrap();
        folder.python(
            r#"
b = read(folder + "out.parquet")
groups = pq.ParquetFile(folder + "out.parquet").metadata.num_row_groups
assert groups < 10, groups
first = {k * 7919 % 1500: chr(97 + k % 5) for k in range(1500)}
assert b["i"].to_pylist() == list(range(1500))
assert [(s[0], len(s)) for s in b["s"].to_pylist()] == [(first[i], 8_000) for i in range(1500)]"#,
        );
    }
}

/// Once, an Arrow file had the metadata of the first input.
#[test]
fn metadata_are_those_that_all_inputs_have() {
    let folder = Folder::new();
    folder.python(
        r#"
for k in range(2):
    t = table(10, k).replace_schema_metadata({"all": "same", "own": str(k), f"only {k}": ""})
    feather.write_feather(t, folder + f"{k}.arrow"); pq.write_table(t, folder + f"{k}.parquet")"#,
    );
    for kind in ["arrow", "parquet"] {
        for to in ["out.arrow", "out.parquet"] {
            let inputs = [&*format!("0.{kind}"), &format!("1.{kind}")];
            folder.sort_with(&inputs, to, "i", &Choices::default()).unwrap();
            let said = folder.python(&format!(r#"print(read(folder + "{to}").schema.metadata)"#));
            assert_eq!(said, "{b'all': b'same'}\n", "{inputs:?} to {to}");
        }
    }
}

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new();
    folder.python(r#"pq.write_table(table(1000), folder + "in.parquet"); feather.write_feather(table(1000), folder + "in.arrow")"#);
    for name in ["in.parquet", "in.arrow"] {
        let whole = fs::read(folder.0.path().join(name)).unwrap();
        for cut in [0, 5, whole.len() / 2, whole.len() - 20] {
            fs::write(folder.0.path().join(format!("cut-{name}")), &whole[..cut]).unwrap();
            let refused =
                folder.sort_with(&[&format!("cut-{name}")], "out.parquet", "s", &Choices::default());
            let refused = refused.err().unwrap().to_string();
            assert!(refused.contains(&format!("cut-{name}: ")) && !refused.contains('\n'), "{refused}");
        }
        assert!(!Path::new(&folder.0.path().join("out.parquet")).exists());
    }
}
