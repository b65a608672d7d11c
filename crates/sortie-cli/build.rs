//! Links the program for a fast start on Linux with glibc.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(static_unwinder)");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" {
        return;
    }
    if env::var("HOST") == env::var("TARGET") && has_static_unwinder() {
        println!("cargo::rustc-cfg=static_unwinder");
    }
}

/// Whether the C compiler, which links the program, comes with the unwinder of GCC as a static library.
fn has_static_unwinder() -> bool {
    let found = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    found.is_ok_and(|found| Path::new(String::from_utf8_lossy(&found.stdout).trim()).is_absolute())
}
