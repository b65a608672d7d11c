//! NVRTC, if it is installed. Needs no GPU.

use sortie_device::{Error, Program, cuda};

const SCALE: &str = r#"
#include "times.cuh"
extern "C" __global__ void scale(TYPE *x) { x[threadIdx.x] = times(x[threadIdx.x]); }
"#;
const HEADERS: &[(&str, &str)] =
    &[("times.cuh", "template <typename T> T times(T x) { return x * FACTOR; }")];

fn program(factor: &str) -> Program {
    let defines = [("TYPE", "unsigned long long"), ("FACTOR", factor)];
    let defines = defines.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Program { name: "scale".into(), source: SCALE, headers: HEADERS, defines, overlaps: false }
}

fn compiler() -> Option<(i32, i32)> {
    cuda::compiler_version().inspect_err(|error| println!("skipped: {error}")).ok()
}

#[test]
fn compiles_to_machine_code_for_each_capability() {
    let Some(version) = compiler() else { return };
    println!("NVRTC {version:?}");
    for capability in [(8, 0), (8, 9), (9, 0)] {
        let cubin = cuda::compile(&program("3"), capability).unwrap();
        assert!(cubin.starts_with(b"\x7fELF"), "{capability:?}");
        assert!(cubin.windows(5).any(|bytes| bytes == b"scale"), "{capability:?}");
    }
}

#[test]
fn gives_the_ptx_of_a_capability() {
    let Some(_) = compiler() else { return };
    let text = |capability| String::from_utf8(cuda::ptx(&program("3"), capability).unwrap()).unwrap();
    for (capability, target) in [((8, 0), ".target sm_80"), ((9, 0), ".target sm_90")] {
        let ptx = text(capability);
        assert!(ptx.contains(target) && ptx.contains(".entry scale"), "{ptx}");
        assert!(!ptx.contains('\0'));
    }
    assert!(matches!(cuda::ptx(&program("nothing"), (9, 0)), Err(Error::Compile { .. })));
}

#[test]
fn says_what_does_not_compile_and_where() {
    let Some(_) = compiler() else { return };
    let log = |program: &Program, capability| match cuda::compile(program, capability) {
        Err(Error::Compile { program, log }) => {
            assert_eq!(program, "scale");
            println!("{log}\n");
            log
        }
        other => panic!("{other:?}"),
    };
    let wrong = log(&program("nothing"), (9, 0));
    assert!(wrong.contains("times.cuh(1)") && wrong.contains("nothing"));
    assert!(log(&program("3"), (1, 0)).contains("architecture"));
    assert!(log(&program("3\0"), (9, 0)).contains("zero byte"));
    assert!(log(&Program { headers: &[], ..program("3") }, (9, 0)).contains("times.cuh"));
}

#[test]
fn compiles_side_by_side() {
    let Some(_) = compiler() else { return };
    std::thread::scope(|scope| {
        for factor in ["2", "3"] {
            scope.spawn(move || assert!(!cuda::compile(&program(factor), (9, 0)).unwrap().is_empty()));
        }
    });
}

/// Needs a separate process, because the current folder belongs to the process. Once, NVRTC took headers from the
/// current folder.
#[test]
fn takes_no_header_from_the_folder_of_the_process() {
    const WITHIN: &str = "SORTIE_TEST_WITHIN";
    let Some(_) = compiler() else { return };
    if std::env::var_os(WITHIN).is_some() {
        let compiled = cuda::compile(&Program { headers: &[], ..program("3") }, (9, 0));
        assert!(
            matches!(&compiled, Err(Error::Compile { log, .. }) if log.contains("times.cuh")),
            "{compiled:?}"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("times.cuh"), HEADERS[0].1).unwrap();
    let mut within = std::process::Command::new(std::env::current_exe().unwrap());
    within.args(["--exact", "takes_no_header_from_the_folder_of_the_process"]);
    let done = within.current_dir(folder.path()).env(WITHIN, "1").output().unwrap();
    assert!(done.status.success(), "{done:?}");
}
