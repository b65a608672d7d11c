//! [`Output`]: the folder of a result, which is complete or not there.
//!
//! - A folder that is not empty is left alone.
//! - For as long as a sort goes on, the folder has a mark with the sort's name. Two sorts cannot have the same folder: the mark is
//!   created or refused in one step. A task that finds another mark, or none, gives its part up.
//! - Parts are put into the folder whole, under names that depend on their ranges alone. So a task may be repeated.
//! - The manifest is written after everything else. When a sort fails, its mark and its parts are deleted, and nothing else.
//! - A complete folder has parts and nothing else, because polars refuses folders with files of several kinds. So the manifest is
//!   beside the folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnv;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use prost::bytes::Bytes;
use serde::{Deserialize, Serialize};
use url::Url;

/// What the name of the manifest has after the folder's: the folder `sorted/` has the manifest `sorted.manifest.json` beside it. It
/// is a JSON object with the fields of [`Manifest`].
pub const MANIFEST_SUFFIX: &str = ".manifest.json";

/// The file that is in a folder for as long as a sort writes to it.
pub const UNFINISHED: &str = "_unfinished";

/// What a sort has written.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Manifest {
    /// The keys, as in SQL's ORDER BY.
    pub sorted_by: String,
    /// The rows of all parts.
    pub rows: u64,
    /// The parts. Rows are in order over all of them.
    pub parts: Vec<Part>,
}

/// A file of a result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Part {
    /// The file's name in the folder: `part-00000.parquet` and so on.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

pub(crate) fn part_name(range: usize) -> String {
    format!("part-{range:05}.parquet")
}

fn is_part(name: &str) -> bool {
    let number = name.strip_prefix("part-").and_then(|name| name.strip_suffix(".parquet"));
    number.is_some_and(|number| number.len() >= 5 && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A folder in a store.
pub(crate) struct Output {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    manifest: Path,
    url: Url,
    /// Whether there was a folder before the sort. Stores have no folders.
    existed: bool,
}

impl Output {
    /// Opens the folder of a URL, which need not exist.
    pub(crate) fn open(url: &str, runtime: &RuntimeEnv) -> Result<Output> {
        let url = Url::parse(url).map_err(|error| exec_datafusion_err!("{url}: {error}"))?;
        let store = ObjectStoreUrl::parse(&url[..url::Position::BeforePath])?;
        let folder =
            Path::from_url_path(url.path()).map_err(|error| exec_datafusion_err!("{url}: {error}"))?;
        if folder.as_ref().is_empty() {
            return exec_err!("{url} is the root of a store; name a folder in it, as in s3://BUCKET/FOLDER");
        }
        let manifest = Path::parse(format!("{folder}{MANIFEST_SUFFIX}"))
            .map_err(|error| exec_datafusion_err!("{url}: {error}"))?;
        let existed = url.to_file_path().is_ok_and(|folder| folder.exists());
        Ok(Output { store: runtime.object_store(store)?, folder, manifest, url, existed })
    }

    pub(crate) fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.store)
    }

    pub(crate) fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.folder.clone(), |path, part| path.join(part))
    }

    /// Marks an empty folder as that of the sort.
    pub(crate) async fn begin(&self, sort: &str) -> Result<()> {
        if self.exists(&self.path(UNFINISHED)).await? {
            return exec_err!(
                "{} is unfinished: a sort writes to it, or was killed; name another folder, or delete this one if no sort runs",
                self.url
            );
        }
        let first = self.store.list(Some(&self.folder)).try_next().await;
        if let Some(name) = self.explained(first)?.and_then(|file| self.name(&file)) {
            return exec_err!(
                "{} is not empty: it has {name}; name another folder, or delete this one",
                self.url
            );
        }
        self.ensure_no_other_manifest().await?;
        let mark = PutPayload::from(sort.as_bytes().to_vec());
        let marked = match self.store.put_opts(&self.path(UNFINISHED), mark, PutMode::Create.into()).await {
            Err(object_store::Error::AlreadyExists { .. }) => {
                exec_err!("another sort writes to {}; name another folder", self.url)
            }
            other => self.explained(other).map(drop),
        };
        marked?;
        // A sort that may not write beside its folder is to fail before its work, not after it.
        let unwritten = match self.write_manifest(Vec::new()).await {
            Ok(()) => self.delete_file(&self.manifest).await,
            failed => failed,
        };
        let Err(error) = unwritten else { return Ok(()) };
        self.abandon().await?;
        Err(error.context("the manifest of a sort is beside its folder"))
    }

    /// Fails if a file that is no manifest has the manifest's name. That of a folder that was deleted is replaced.
    async fn ensure_no_other_manifest(&self) -> Result<()> {
        let bytes = match self.store.get(&self.manifest).await {
            Ok(file) => self.explained(file.bytes().await)?,
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            Err(error) => return self.explained(Err(error)),
        };
        // One that is empty is left by a sort that was killed at its beginning.
        match bytes.is_empty() || serde_json::from_slice::<Manifest>(&bytes).is_ok() {
            true => Ok(()),
            false => exec_err!(
                "{}{MANIFEST_SUFFIX} is no manifest of a sort; move it away, or name another folder",
                self.url.as_str().trim_end_matches('/')
            ),
        }
    }

    async fn write_manifest(&self, json: Vec<u8>) -> Result<()> {
        self.explained(self.store.put(&self.manifest, json.into()).await)?;
        Ok(())
    }

    /// Fails unless the sort still goes on.
    pub(crate) async fn ensure_unfinished(&self, sort: &str) -> Result<()> {
        match self.has_mark_of(sort).await? {
            true => Ok(()),
            false => exec_err!(
                "{} has no mark of this sort: the sort was stopped, or this executor does not share the folder with the program \
                 that sorts",
                self.url
            ),
        }
    }

    /// Whether the folder has the mark of this sort.
    async fn has_mark_of(&self, sort: &str) -> Result<bool> {
        match self.store.get(&self.path(UNFINISHED)).await {
            Ok(mark) => Ok(self.explained(mark.bytes().await)? == sort.as_bytes()),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => self.explained(Err(error)),
        }
    }

    /// How many parts there are.
    pub(crate) async fn part_count(&self) -> Result<usize> {
        Ok(self.parts().await?.len())
    }

    /// Writes what is missing for a complete result: parts of ranges that no row fell in, and the manifest.
    pub(crate) async fn finish(
        &self,
        sorted_by: String,
        rows: &[Option<u64>],
        empty_part: &Bytes,
    ) -> Result<Manifest> {
        for range in (0..rows.len()).filter(|&range| rows[range].is_none()) {
            self.explained(self.store.put(&self.path(&part_name(range)), empty_part.clone().into()).await)?;
        }
        let mut written = self.parts().await?;
        let mut parts = Vec::with_capacity(rows.len());
        for (range, rows) in rows.iter().enumerate() {
            let file = part_name(range);
            let Some(bytes) = written.remove(&file) else {
                return exec_err!(
                    "an executor has written {file}, but it is not in {}; let all nodes share this folder, or use a store",
                    self.url
                );
            };
            parts.push(Part { file, rows: rows.unwrap_or(0), bytes });
        }
        // A task of an earlier sort, which was given up, may have finished its part since this one has begun.
        for stray in written.keys() {
            self.delete(stray).await?;
        }
        self.delete_litter();
        let manifest = Manifest { sorted_by, rows: parts.iter().map(|part| part.rows).sum(), parts };
        let json = serde_json::to_vec_pretty(&manifest).map_err(|e| DataFusionError::External(e.into()))?;
        self.write_manifest(json).await?;
        self.delete(UNFINISHED).await?;
        Ok(manifest)
    }

    /// Deletes what a failed sort has written.
    pub(crate) async fn abandon(&self) -> Result<()> {
        // First the mark, so that tasks that still run do not finish their parts. Then the manifest, which says that all is there.
        self.delete(UNFINISHED).await?;
        self.delete_file(&self.manifest).await?;
        // A file that is not there any more cannot become a part. One that becomes a part meanwhile is deleted by its task.
        self.delete_litter();
        for part in self.parts().await?.keys() {
            self.delete(part).await?;
        }
        if let Ok(folder) = self.url.to_file_path() {
            // There may be something in it now that is not ours.
            if !self.existed {
                let _ = std::fs::remove_dir(folder);
            }
        }
        Ok(())
    }

    /// Deletes a part that was finished after its sort had been given up. A later sort to the same folder that has lost a part by
    /// that fails, instead of having rows of another sort.
    pub(crate) async fn delete_if_given_up(&self, part: &str, sort: &str) -> Result<()> {
        if self.has_mark_of(sort).await? || self.exists(&self.manifest).await? {
            return Ok(());
        }
        self.delete(part).await?;
        if let Ok(folder) = self.url.to_file_path() {
            let _ = std::fs::remove_dir(folder);
        }
        exec_err!("the sort to {} was given up", self.url)
    }

    async fn exists(&self, file: &Path) -> Result<bool> {
        match self.store.head(file).await {
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            other => self.explained(other).map(|_| true),
        }
    }

    /// Deletes a file of ours in the folder, if it is there.
    async fn delete(&self, name: &str) -> Result<()> {
        self.delete_file(&self.path(name)).await
    }

    async fn delete_file(&self, file: &Path) -> Result<()> {
        match self.store.delete(file).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            other => self.explained(other),
        }
    }

    /// Deletes the unfinished files of executors that ended in the middle of a part. Stores have no such files.
    fn delete_litter(&self) {
        let Ok(folder) = self.url.to_file_path() else { return };
        let Ok(files) = std::fs::read_dir(folder) else { return };
        for file in files.flatten() {
            let name = file.file_name();
            if name.to_string_lossy().starts_with("part-") && name.to_string_lossy().contains(".parquet#") {
                // An executor that turns out to be alive may have finished the file meanwhile.
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    /// The parts in the folder, and their bytes. The folder was empty when the sort began.
    async fn parts(&self) -> Result<BTreeMap<String, u64>> {
        let files: Vec<_> = self.explained(self.store.list(Some(&self.folder)).try_collect().await)?;
        let named = files.iter().filter_map(|file| Some((self.name(file)?, file.size)));
        Ok(named.filter(|(name, _)| is_part(name)).collect())
    }

    /// The path of a file in the folder.
    fn name(&self, file: &ObjectMeta) -> Option<String> {
        let parts = file.location.prefix_match(&self.folder)?;
        Some(parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"))
    }

    fn explained<T>(&self, result: object_store::Result<T>) -> Result<T> {
        result.map_err(|error| DataFusionError::from(error).context(format!("in {}", self.url)))
    }
}
