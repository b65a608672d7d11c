//! `include/sortie.h` is what cbindgen makes of the sources.

use std::fs;
use std::path::Path;

use cbindgen::{Builder, Config};

#[test]
fn the_header_is_that_of_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bindings = Builder::new()
        .with_config(Config::from_file(root.join("cbindgen.toml")).unwrap())
        .with_src(root.join("src/types.rs"))
        .with_src(root.join("src/lib.rs"))
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    let path = root.join("include/sortie.h");
    if fs::read(&path).unwrap_or_default() != made {
        fs::write(&path, made).unwrap();
        panic!("{} differed from the sources and was written anew; commit it", path.display());
    }
}
