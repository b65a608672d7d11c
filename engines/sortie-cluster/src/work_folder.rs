//! [`WorkFolder`]: where an executor keeps the rows of shuffles and spills.
//!
//! ```text
//!     sortie-cluster-XXXXXX/lock    locked for as long as its process lives
//!     sortie-cluster-XXXXXX/rows/   what the executor writes
//! ```
//!
//! The folder is deleted when its process ends. A process that is killed leaves it; the next one in the same place finds its lock
//! free and deletes it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::time::Duration;

use datafusion::error::{DataFusionError, Result};

const PREFIX: &str = "sortie-cluster-";
const LOCK: &str = "lock";
const ROWS: &str = "rows";

/// A folder without a lock is taken for one that is being made, or deleted, for this long.
const UNLOCKED_TIME: Duration = Duration::from_secs(60);

/// A folder that is deleted with this value.
pub struct WorkFolder {
    folder: PathBuf,
    _lock: File,
}

impl WorkFolder {
    /// Makes a folder in `parent`, and deletes those that nobody owns any more.
    pub fn new(parent: &Path) -> Result<WorkFolder> {
        let failed = |error: io::Error| DataFusionError::from(error).context(parent.display().to_string());
        fs::create_dir_all(parent).map_err(failed)?;
        let parent = std::path::absolute(parent).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&parent).map_err(failed)?;
        let lock = locked(folder.path()).map_err(failed)?;
        fs::create_dir(folder.path().join(ROWS)).map_err(failed)?;
        let work = WorkFolder { folder: folder.keep(), _lock: lock };
        // A folder that cannot be deleted is no reason to fail.
        let _ = work.delete_unowned(&parent);
        Ok(work)
    }

    /// Where the executor writes.
    pub fn rows(&self) -> PathBuf {
        self.folder.join(ROWS)
    }

    /// Deletes the folder. Threads that still work cannot make files in it any more, and fail.
    pub fn delete(&self) {
        let _ = end_writes(&self.folder);
        delete(&self.folder);
    }

    /// Deletes the folder and ends the process. A thread that still works may make the folder again as soon as it is gone. So the process
    /// becomes another program, which ends all threads, and that one deletes what they made.
    pub fn end_process(&self, status: i32) -> ! {
        self.delete();
        let _ = io::stdout().flush();
        let mut last = Command::new("/bin/sh");
        last.args(["-c", r#"rm -rf -- "$0"; exit "$1""#]).arg(&self.folder).arg(status.to_string());
        // Returns only if there is no such program.
        let _ = last.exec();
        process::exit(status)
    }

    /// Deletes the folders of processes that were killed.
    fn delete_unowned(&self, parent: &Path) -> io::Result<()> {
        let user = self.folder.metadata()?.uid();
        for entry in fs::read_dir(parent)?.flatten() {
            let is_work = entry.file_name().to_string_lossy().starts_with(PREFIX);
            if is_work && entry.path() != self.folder && is_unowned(&entry, user).unwrap_or(false) {
                delete(&entry.path());
            }
        }
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        self.delete();
    }
}

/// Makes the lock of a folder. It gets its name when it is locked, so that nobody finds it free.
fn locked(folder: &Path) -> io::Result<File> {
    let unnamed = folder.join("new");
    let lock = File::create(&unnamed)?;
    lock.try_lock()?;
    fs::rename(&unnamed, folder.join(LOCK))?;
    Ok(lock)
}

/// Whether the process that made a folder has ended. Only folders of the same user count, and no links to folders: others may put
/// them into a folder for temporary files.
fn is_unowned(entry: &fs::DirEntry, user: u32) -> io::Result<bool> {
    let metadata = entry.metadata()?;
    if !metadata.is_dir() || metadata.uid() != user {
        return Ok(false);
    }
    match File::open(entry.path().join(LOCK)) {
        Ok(lock) => Ok(lock.try_lock().is_ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let age = metadata.modified()?.elapsed().unwrap_or_default();
            Ok(age > UNLOCKED_TIME)
        }
        Err(error) => Err(error),
    }
}

/// Puts a file in the place of the folder of rows.
fn end_writes(folder: &Path) -> io::Result<()> {
    let rows = folder.join(ROWS);
    for attempt in 0.. {
        fs::rename(&rows, folder.join(format!("ended-{attempt}")))?;
        // A thread may have made the folder again since.
        if File::create_new(&rows).is_ok() || !rows.is_dir() {
            break;
        }
    }
    Ok(())
}

/// Deletes a folder, and its lock last: who is killed meanwhile leaves a folder that the next process deletes.
fn delete(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // The file in the place of the rows keeps writers out, so it stays to the end too.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            delete_ended(&entry.path());
        }
    }
    let ended = folder.with_extension("ended");
    if fs::rename(folder, &ended).is_ok() {
        delete_ended(&ended);
    }
}

/// Deletes a folder under a name that no thread knows. One that has just opened it by its old name may still make a file in it.
fn delete_ended(folder: &Path) {
    while let Err(error) = fs::remove_dir_all(folder) {
        if error.kind() != io::ErrorKind::DirectoryNotEmpty {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;

    use super::*;

    fn folders(parent: &Path) -> Vec<PathBuf> {
        fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_folder_is_deleted_with_its_owner_though_files_are_still_made() {
        let parent = tempfile::tempdir().unwrap();
        let work = WorkFolder::new(parent.path()).unwrap();
        let job = work.rows().join("job");
        fs::create_dir_all(&job).unwrap();
        let _open = File::create(job.join("shuffle")).unwrap();
        end_writes(&work.folder).unwrap();
        assert!(fs::create_dir_all(&job).is_err() && File::create(job.join("next")).is_err());
        drop(work);
        assert!(folders(parent.path()).is_empty());
    }

    #[test]
    fn a_folder_is_deleted_though_threads_make_its_rows_again() {
        let parent = tempfile::tempdir().unwrap();
        for _ in 0..100 {
            let work = WorkFolder::new(parent.path()).unwrap();
            let rows = work.rows();
            let is_deleted = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    for file in 0.. {
                        let _ = fs::create_dir(&rows);
                        let _ = File::create(rows.join(file.to_string()));
                        if is_deleted.load(Relaxed) {
                            break;
                        }
                    }
                });
                thread::sleep(Duration::from_millis(1));
                drop(work);
                is_deleted.store(true, Relaxed);
            });
            assert!(folders(parent.path()).is_empty());
        }
    }

    #[test]
    fn only_folders_without_an_owner_are_deleted() {
        let parent = tempfile::tempdir().unwrap();
        let owned = WorkFolder::new(parent.path()).unwrap();
        let killed = parent.path().join("sortie-cluster-killed");
        fs::create_dir_all(killed.join("rows/job")).unwrap();
        File::create(killed.join(LOCK)).unwrap();
        let (new, theirs) = (parent.path().join("sortie-cluster-new"), parent.path().join("theirs"));
        for folder in [&new, &theirs] {
            fs::create_dir(folder).unwrap();
        }
        // A link to a folder that looks like one of ours.
        File::create(theirs.join(LOCK)).unwrap();
        let link = parent.path().join("sortie-cluster-link");
        std::os::unix::fs::symlink(&theirs, &link).unwrap();

        let work = WorkFolder::new(parent.path()).unwrap();
        assert!(!killed.exists());
        assert!(
            owned.rows().is_dir()
                && work.rows().is_dir()
                && new.is_dir()
                && theirs.join(LOCK).exists()
                && link.exists()
        );
    }
}
