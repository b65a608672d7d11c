//! C programs, compiled against the header, linked with the library and run.

use std::env;
use std::fs;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use sortie_c::{sortie_dtype, sortie_engine, sortie_nans, sortie_options, sortie_status};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Where cargo puts the libraries that this test was built with.
fn libraries() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A compiler that finds the header, and for which every warning is an error.
fn compiler(name: &str, standard: &str) -> Command {
    let mut command = Command::new(name);
    command
        .arg(standard)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"])
        .arg(format!("{ROOT}/include"));
    command
}

/// Runs a program that must succeed, and returns what it writes.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{errors}");
    assert_eq!(errors, "", "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compiles a C program, links it with the shared library and runs it.
fn output_of(source: &Path) -> String {
    let program = scratch(source.file_stem().unwrap().to_str().unwrap());
    let mut compiler = compiler("cc", "-std=c99");
    run(compiler.arg(source).arg("-o").arg(&program).arg("-L").arg(libraries()).arg("-lsortie_c"));
    run(Command::new(program).env("LD_LIBRARY_PATH", libraries()))
}

/// What `examples/sort.c` writes.
const EXAMPLE: &str = "\
sorted: -1 -0 0 3.5 nan
descending, two threads, NaNs first: nan 3.5 0 -0 -1
pairs: 10:b 20:c 30:a
indices: 1 2 0
segments of 3: 1 2 3 7 8 9
segments by offsets: 2 1 3 7 9 8
strings: apple fig pear
refused: dtype 99 does not exist; give one of SORTIE_DTYPE_U8 to SORTIE_DTYPE_F64
";

#[test]
fn the_example_sorts_with_the_shared_library() {
    assert_eq!(output_of(&Path::new(ROOT).join("examples/sort.c")), EXAMPLE);
}

#[test]
fn the_example_sorts_with_the_static_library() {
    let (source, program) = (Path::new(ROOT).join("examples/sort.c"), scratch("sort-static"));
    let library = libraries().join("libsortie_c.a");
    let mut compiler = compiler("cc", "-std=c99");
    run(compiler.arg(source).arg("-o").arg(&program).arg(library).args(["-lpthread", "-ldl", "-lm"]));
    assert_eq!(run(&mut Command::new(program)), EXAMPLE);
}

#[test]
fn the_program_of_the_guide_writes_what_the_guide_says() {
    let guide = fs::read_to_string(Path::new(ROOT).join("../../docs/c.md")).unwrap();
    let block = |language: &str| {
        let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let source = scratch("guide.c");
    fs::write(&source, block("c")).unwrap();
    assert_eq!(output_of(&source), block("text"));
}

#[test]
fn the_header_alone_compiles_as_c_and_as_cpp() {
    let source = scratch("header-alone.c");
    fs::write(&source, "#include \"sortie.h\"\n#include \"sortie.h\"\n").unwrap();
    run(compiler("cc", "-std=c99").args(["-fsyntax-only", "-x", "c"]).arg(&source));
    run(compiler("g++", "-std=c++11").args(["-fsyntax-only", "-x", "c++"]).arg(&source));
}

/// In C, the options have the layout that they have in Rust, and enums have the same values.
#[test]
fn types_are_laid_out_alike_in_c_and_in_rust() {
    let fields = [
        ("memory_limit", offset_of!(sortie_options, memory_limit)),
        ("threads", offset_of!(sortie_options, threads)),
        ("descending", offset_of!(sortie_options, descending)),
        ("nans", offset_of!(sortie_options, nans)),
        ("unstable", offset_of!(sortie_options, unstable)),
        ("engine", offset_of!(sortie_options, engine)),
        ("device", offset_of!(sortie_options, device)),
    ];
    let values = [
        ("SORTIE_STATUS_OK", sortie_status::Ok as usize),
        ("SORTIE_STATUS_INVALID", sortie_status::Invalid as usize),
        ("SORTIE_STATUS_MEMORY", sortie_status::Memory as usize),
        ("SORTIE_STATUS_THREADS", sortie_status::Threads as usize),
        ("SORTIE_STATUS_DEVICE", sortie_status::Device as usize),
        ("SORTIE_STATUS_PANIC", sortie_status::Panic as usize),
        ("SORTIE_DTYPE_U8", sortie_dtype::U8 as usize),
        ("SORTIE_DTYPE_BF16", sortie_dtype::Bf16 as usize),
        ("SORTIE_DTYPE_F64", sortie_dtype::F64 as usize),
        ("SORTIE_ENGINE_CUDA", sortie_engine::Cuda as usize),
        ("SORTIE_NANS_EQUAL_FIRST", sortie_nans::EqualFirst as usize),
        ("sizeof(sortie_options)", size_of::<sortie_options>()),
        ("sizeof(sortie_status)", size_of::<sortie_status>()),
        ("sizeof(sortie_dtype)", size_of::<sortie_c::DtypeValue>()),
        ("sizeof(sortie_engine)", size_of::<sortie_c::EngineValue>()),
        ("sizeof(sortie_nans)", size_of::<sortie_c::NansValue>()),
    ];
    let fields = fields.map(|(field, offset)| (format!("offsetof(sortie_options, {field})"), offset));
    let values = values.map(|(name, value)| (name.to_owned(), value));
    let (mut prints, mut expected) = (String::new(), String::new());
    for (c, rust) in values.into_iter().chain(fields) {
        prints += &format!("    printf(\"{c} is %d\\n\", (int){c});\n");
        expected += &format!("{c} is {rust}\n");
    }
    let source = scratch("layout.c");
    let program = format!("#include <stdio.h>\n#include \"sortie.h\"\n\nint main(void) {{\n{prints}}}\n");
    fs::write(&source, program).unwrap();
    assert_eq!(output_of(&source), expected);
}
