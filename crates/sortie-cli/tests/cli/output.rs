//! What `-o` does to an existing file: its attributes are kept, and no other user gains access to it.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, getxattr, listxattr, setxattr};

use crate::support::{self, HAS_INDEX, copy_program, gnu, names, run, sortie, text};

const TEXT: &str = "c\nb\na\n";
const SORTED: &str = "a\nb\nc\n";

/// A folder that any user may use, with [`TEXT`] in `file`.
fn folder() -> tempfile::TempDir {
    let folder = support::folder("file", TEXT.as_bytes());
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    folder
}

/// An access control list in Linux's format: the rights of the owner, user 65534, the group, the mask, and others.
fn access_list(may: [u16; 5]) -> Vec<u8> {
    const NOBODY: u32 = 65534;
    let whom = [(1, u32::MAX), (2, NOBODY), (4, u32::MAX), (0x10, u32::MAX), (0x20, u32::MAX)];
    let mut list = 2u32.to_le_bytes().to_vec();
    for ((kind, id), may) in whom.into_iter().zip(may) {
        list.extend_from_slice(&u16::to_le_bytes(kind));
        list.extend_from_slice(&may.to_le_bytes());
        list.extend_from_slice(&id.to_le_bytes());
    }
    list
}

/// Sets an attribute of a file or folder. Returns false if its file system does not support it.
fn give(path: &Path, name: &str, value: &[u8]) -> bool {
    let given = setxattr(path, name, value, XattrFlags::empty());
    if given.is_err() {
        eprintln!("skipped: no attribute {name} can be given here");
    }
    given.is_ok()
}

/// Mode, owner, and all extended attributes.
fn belongings(path: &Path) -> (u32, u32, u32, BTreeMap<String, Vec<u8>>) {
    let mut names = Vec::with_capacity(1 << 16);
    listxattr(path, spare_capacity(&mut names)).unwrap();
    let attribute = |name: &[u8]| {
        let mut value = Vec::with_capacity(1 << 16);
        getxattr(path, name, spare_capacity(&mut value)).unwrap();
        (text(name), value)
    };
    let attributes = names.split(|&b| b == 0).filter(|name| !name.is_empty()).map(attribute);
    let old = path.metadata().unwrap();
    (old.mode(), old.uid(), old.gid(), attributes.collect())
}

#[track_caller]
fn assert_quiet(done: &Output) {
    assert_eq!((done.status.code(), text(&done.stderr)), (Some(0), String::new()));
}

#[test]
fn an_access_control_list_and_attributes_are_kept_by_every_command() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("x.fa"), ">b\nC\n>a\nA\n").unwrap();
    fs::write(path("x.mgf"), "BEGIN IONS\nPEPMASS=1\n3.5 1\n1.5 2\nEND IONS\n").unwrap();
    fs::write(path("x.jsonl"), "{\"id\":\"1\",\"text\":\"one two\"}\n").unwrap();
    let program = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sortie"));
        command.current_dir(folder.path());
        command
    };
    let build = ["index", "build", "x.jsonl", "-o", "x.index"];
    assert_eq!(program().args(build).output().unwrap().status.success(), HAS_INDEX);
    for (arguments, output) in [
        ("sort file -o file", "file"),
        ("sort -S 64K -m file -o file", "file"),
        ("sort --type u8 file -o file", "file"),
        ("sort --type u8 -S 64K file -o file", "file"),
        ("sort --record-size 2 file -o file", "file"),
        ("segments --type u8 --len 2 file -o file", "file"),
        ("sort --format fasta x.fa -o x.fa", "x.fa"),
        ("spectra x.mgf -o x.mgf --by mz", "x.mgf"),
        ("index export x.index --ciff x.ciff", "x.ciff"),
    ] {
        if !HAS_INDEX && arguments.starts_with("index ") {
            continue;
        }
        let output = path(output);
        if !output.exists() {
            fs::write(&output, "old").unwrap();
        }
        fs::set_permissions(&output, Permissions::from_mode(0o640)).unwrap();
        // The list names user 65534. The mask limits that user to reading.
        if !give(&output, "system.posix_acl_access", &access_list([6, 6, 4, 4, 0]))
            || !give(&output, "user.note", b"hello")
        {
            return;
        }
        let before = (belongings(&output), output.metadata().unwrap().ino());
        assert_quiet(&run(program().args(arguments.split(' ')), b""));
        assert_eq!(belongings(&output), before.0, "{arguments}");
        assert_ne!(output.metadata().unwrap().ino(), before.1, "{arguments}: it was not replaced");
    }
}

#[test]
fn the_default_list_of_a_folder_gives_nobody_access_to_a_replaced_file() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::set_permissions(&file, Permissions::from_mode(0o660)).unwrap();
    let before = belongings(&file);
    if give(folder.path(), "system.posix_acl_default", &access_list([7, 7, 7, 7, 0])) {
        assert_quiet(&run(sortie(folder.path()).args(["file", "-o", "file"]), b""));
        assert_eq!(fs::read_to_string(&file).unwrap(), SORTED);
        assert_eq!(belongings(&file), before);
    }
}

#[test]
fn a_file_whose_attributes_cannot_be_copied_is_written_in_place() {
    let folder = folder();
    let file = folder.path().join("file");
    let program = folder.path().join("program");
    copy_program(&program);
    // The superuser sets an attribute that the owner may not set.
    if chown(&file, Some(65534), Some(65534)).is_err() || !give(&file, "security.test", b"1") {
        eprintln!("skipped: not the superuser");
        return;
    }
    let before = (belongings(&file), file.metadata().unwrap().ino());
    let mut owner = Command::new(&program);
    owner.uid(65534).gid(65534).current_dir(folder.path());
    assert_quiet(&run(owner.args(["sort", "file", "-o", "file"]), b""));
    assert_eq!(fs::read_to_string(&file).unwrap(), SORTED);
    assert_eq!((belongings(&file), file.metadata().unwrap().ino()), before);
    assert_eq!(names(folder.path()), ["file", "program"]);
}

#[test]
fn a_mounted_file_is_written_where_it_is() {
    let folder = folder();
    fs::write(folder.path().join("mounted"), "below").unwrap();
    for (options, sorted) in [("", SORTED), ("--type u8", "\n\n\nabc"), ("--record-size 2 -r", TEXT)] {
        fs::write(folder.path().join("file"), TEXT).unwrap();
        let script = "mount --bind file mounted || exit 77; $0 sort $1 mounted -o mounted";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_sortie"), options]);
        let Ok(done) = command.current_dir(folder.path()).output() else { return };
        if done.status.code() == Some(77) || text(&done.stderr).contains("unshare") {
            eprintln!("skipped: mounting is not permitted");
            return;
        }
        assert_quiet(&done);
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), sorted);
        assert_eq!(fs::read_to_string(folder.path().join("mounted")).unwrap(), "below");
        assert_eq!(names(folder.path()), ["file", "mounted"]);
    }
}

#[test]
fn a_file_is_written_where_there_is_no_proc() {
    let folder = folder();
    for name in ["new", "file"] {
        let script = "umount -l /proc || exit 77; exec $0 sort file -o $1";
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", script, env!("CARGO_BIN_EXE_sortie"), name]);
        let Ok(done) = command.current_dir(folder.path()).output() else { return };
        if done.status.code() == Some(77) || text(&done.stderr).contains("unshare") {
            eprintln!("skipped: unmounting is not permitted");
            return;
        }
        assert_quiet(&done);
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), SORTED);
    }
    assert_eq!(names(folder.path()), ["file", "new"]);
}

#[test]
fn a_file_with_several_names_has_the_result_under_all_of_them() {
    for program in [sortie, gnu] {
        let folder = folder();
        let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
        fs::hard_link(&file, &other).unwrap();
        assert_quiet(&run(program(folder.path()).args(["file", "-o", "file"]), b""));
        assert_eq!(fs::read_to_string(&other).unwrap(), SORTED);
        assert_eq!(other.metadata().unwrap().nlink(), 2);
        assert_eq!(names(folder.path()), ["file", "other"]);
    }
}

#[test]
fn an_input_that_is_standard_output_too_is_read_before_it_is_overwritten() {
    for program in [sortie, gnu] {
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let folder = folder();
            let file = File::options().read(true).write(true).open(folder.path().join("file")).unwrap();
            let status = program(folder.path()).args(["file", "-o", name]).stdout(file).status().unwrap();
            assert!(status.success(), "{name}");
            assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), SORTED, "{name}");
            assert_eq!(names(folder.path()), ["file"], "{name}");
        }
    }
}

#[test]
fn killed_while_a_file_is_overwritten_the_complete_result_is_there() {
    let mut overwritten = 0;
    for _ in 0..5 {
        let folder = folder();
        let file = folder.path().join("file");
        let unsorted: Vec<u8> = (0..16 << 20).map(|i: u32| (i % 251) as u8).collect();
        fs::write(&file, &unsorted).unwrap();
        fs::hard_link(&file, folder.path().join("other")).unwrap();
        let mut child = sortie(folder.path()).args(["--type", "u8", "file", "-o", "file"]).spawn().unwrap();
        let complete = || names(folder.path()).into_iter().find(|name| name.starts_with(".sortie-"));
        while complete().is_none() && child.try_wait().unwrap().is_none() {}
        child.kill().unwrap();
        child.wait().unwrap();
        let is_sorted = |path: &Path| {
            let found = fs::read(path).unwrap();
            found.len() == unsorted.len() && found.is_sorted()
        };
        if let Some(name) = complete() {
            assert!(is_sorted(&folder.path().join(name)));
            overwritten += 1;
        } else {
            assert!(is_sorted(&file));
        }
    }
    println!("killed {overwritten} times while the file was overwritten");
}
