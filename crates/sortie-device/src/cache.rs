//! A cache on disk for results that take long to compute: compiled programs and measured rates.
//!
//! The folder is `$SORTIE_CACHE`, else `$XDG_CACHE_HOME/sortie`, else `~/.cache/sortie`. A path that is not absolute is
//! ignored, since its meaning would depend on the current folder. An entry is a file, named by the hash of everything
//! that its content depends on. It contains a checksum of its content, so a torn or foreign file counts as absent. It
//! appears by a rename, so concurrent processes do not interfere. If the folder cannot be written, nothing is cached.
//!
//! Cached programs are loaded and executed. So only the user may access the folder. On Unix, a folder or a file that
//! another user owns, or that its group or others can write to, also counts as absent.

use std::env;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::own;

/// The first bytes of every entry. The number is the version of the format.
const MAGIC: &[u8; 16] = b"sortie cache  1\n";
const CHECKSUM: usize = 32;

/// The name of an entry: a hash of everything that its content depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 32]);

impl Key {
    /// The key for these parts. `kind` separates entries of different kinds.
    pub fn new<'a>(kind: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Key {
        let mut hash = Sha256::new();
        for part in std::iter::once(kind.as_bytes()).chain(parts) {
            // The length comes first, so no two lists of parts give the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Key(hash.finalize().into())
    }

    fn file_name(&self) -> String {
        self.0.iter().fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        })
    }

    /// A checksum that also depends on the key, so an entry under the wrong name is not accepted.
    fn checksum(&self, content: &[u8]) -> [u8; CHECKSUM] {
        Sha256::new().chain_update(self.0).chain_update(content).finalize().into()
    }
}

/// A folder of entries.
#[derive(Debug, Clone)]
pub struct Cache {
    /// `None` if the environment gives no folder.
    folder: Option<PathBuf>,
}

impl Cache {
    /// The cache of the current user.
    pub fn of_user() -> Cache {
        Cache { folder: folder(|name| env::var_os(name).map(PathBuf::from), env::home_dir()) }
    }

    /// The folder of the entries, also used by other tools of this user. It need not exist. `None` if the environment
    /// gives no folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The content of an entry, if it exists and is intact.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let mut entry = own::read(self.folder.as_ref()?, &key.file_name()).ok()?;
        let head = MAGIC.len() + CHECKSUM;
        if !entry.starts_with(MAGIC) || entry.len() < head {
            return None;
        }
        if entry[MAGIC.len()..head] != key.checksum(&entry[head..]) {
            return None;
        }
        entry.drain(..head);
        Some(entry)
    }

    /// Stores the content, if possible.
    pub fn put(&self, key: &Key, content: &[u8]) {
        // Content that could not be stored is computed again when it is needed.
        let _ = self.try_put(key, content);
    }

    fn try_put(&self, key: &Key, content: &[u8]) -> io::Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        own::make_folder(folder)?;
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&key.checksum(content))?;
        file.write_all(content)?;
        file.persist(folder.join(key.file_name()))?;
        Ok(())
    }
}

/// The folder that the environment variables give.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |path: Option<PathBuf>| path.filter(|path| path.is_absolute());
    absolute(variable("SORTIE_CACHE"))
        .or_else(|| absolute(variable("XDG_CACHE_HOME")).map(|base| base.join("sortie")))
        .or_else(|| absolute(home).map(|home| home.join(".cache/sortie")))
}

#[cfg(test)]
pub mod tests {
    use std::fs;

    use super::*;

    pub fn cache_at(folder: &Path) -> Cache {
        Cache { folder: Some(folder.into()) }
    }

    fn key(name: &str) -> Key {
        Key::new("test", [name.as_bytes()])
    }

    /// The only entry of a cache.
    pub fn entry(folder: &Path) -> PathBuf {
        let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    #[test]
    fn keeps_and_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_at(&folder.path().join("made/when/needed"));
        assert_eq!(cache.get(&key("a")), None);
        cache.put(&key("a"), b"first");
        cache.put(&key("a"), b"second");
        cache.put(&key("b"), b"");
        assert_eq!(cache.get(&key("a")).as_deref(), Some(&b"second"[..]));
        assert_eq!(cache.get(&key("b")).as_deref(), Some(&b""[..]));
        assert_eq!(cache.get(&key("c")), None);
    }

    #[test]
    fn keys_tell_parts_apart() {
        let parts = |parts: &[&'static str]| Key::new("k", parts.iter().map(|part| part.as_bytes()));
        assert_ne!(parts(&["ab", "c"]), parts(&["a", "bc"]));
        assert_ne!(parts(&["ab"]), parts(&["ab", ""]));
        assert_ne!(Key::new("a", []), Key::new("b", []));
    }

    #[test]
    fn torn_changed_and_foreign_files_count_as_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_at(folder.path());
        cache.put(&key("a"), b"the content");
        let path = entry(folder.path());
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.get(&key("a")), None, "cut at {length}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            fs::write(&path, changed).unwrap();
            assert_eq!(cache.get(&key("a")), None, "changed at {place}");
        }
        fs::write(folder.path().join(key("b").file_name()), &whole).unwrap();
        assert_eq!(cache.get(&key("b")), None, "another entry's content");
        cache.put(&key("a"), b"the content");
        assert!(cache.get(&key("a")).is_some());
    }

    #[test]
    fn paths_that_are_not_absolute_name_no_folder() {
        let found = |own: &str, base: &str, home: &str| {
            let set = |value: &str| (value != "-").then(|| PathBuf::from(value));
            let variable = |name: &str| set(if name == "SORTIE_CACHE" { own } else { base });
            folder(variable, set(home)).map(|folder| folder.to_str().unwrap().to_owned())
        };
        for (own, base, home, expected) in [
            ("/own", "/base", "/home", Some("/own")),
            ("own", "/base", "/home", Some("/base/sortie")),
            ("", "base", "/home", Some("/home/.cache/sortie")),
            ("-", ".", "/home", Some("/home/.cache/sortie")),
            ("./own", "../base", "home", None),
            ("-", "-", "-", None),
        ] {
            assert_eq!(found(own, base, home).as_deref(), expected, "{own:?} {base:?} {home:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn what_another_user_could_have_written_counts_as_absent() {
        use std::os::unix::fs::{PermissionsExt, chown};

        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("made");
        let cache = cache_at(&folder);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let set_mode =
            |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let found = || cache.get(&key("a"));
        cache.put(&key("a"), b"content");
        let file = entry(&folder);
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        for (path, own) in [(&folder, 0o700), (&file, 0o600)] {
            for others in [0o020, 0o002] {
                set_mode(path, own | others);
                assert_eq!(found(), None, "{path:?} {others:o}");
                cache.put(&key("b"), b"content");
                assert_eq!(cache.get(&key("b")).is_some(), path == &file, "{path:?} {others:o}");
            }
            set_mode(path, own | 0o044);
            assert!(found().is_some(), "{path:?}");
            // Only root can change the owner of a file.
            let me = rustix::process::geteuid().as_raw();
            if chown(path, Some(me + 1), None).is_ok() {
                assert_eq!(found(), None, "{path:?} of another user");
                chown(path, Some(me), None).unwrap();
            }
        }
        let elsewhere = above.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert_eq!(found(), None, "a link");
    }

    #[test]
    fn no_folder_is_harmless() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file");
        fs::write(&file, "").unwrap();
        // Nobody, not even root, can make a folder below a file.
        for cache in [cache_at(&file.join("below")), cache_at(&file), Cache { folder: None }] {
            cache.put(&key("a"), b"content");
            assert_eq!(cache.get(&key("a")), None);
        }
    }

    #[test]
    fn writers_and_readers_side_by_side_see_whole_entries() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache_at(folder.path());
        let contents: Vec<_> = (0..4u8).map(|writer| vec![writer; 100_000]).collect();
        std::thread::scope(|scope| {
            for content in &contents {
                scope.spawn(|| (0..50).for_each(|_| cache.put(&key("a"), content)));
            }
            for _ in 0..200 {
                assert!(cache.get(&key("a")).is_none_or(|found| contents.contains(&found)));
            }
        });
        assert!(contents.contains(&cache.get(&key("a")).unwrap()));
        entry(folder.path());
    }
}
