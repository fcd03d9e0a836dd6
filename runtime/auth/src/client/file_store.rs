//! A store of tokens in a file.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_runtime_util::{BoxFuture, Mutex};

use super::store::{Grant, StoreLock, TokenStore, blocking};
use crate::error::BoxError;

/// The maximum bytes that are read from the file.
const MAX_BYTES: u64 = 16 << 20;

/// A store in a file, which on Unix only its owner can read. The file is replaced as a whole, so that it is never half
/// written. On Unix, a lock on a file next to it serializes the changes of programs that share the store, and another
/// one their refreshes of grants. On other systems, if two programs change the store at the same time, one of the
/// changes is lost.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: Arc<Path>,
    writing: Arc<Mutex<()>>,
}

type Grants = BTreeMap<String, Grant>;

impl FileStore {
    /// A store in the file at this path, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into().into(),
            writing: Arc::default(),
        }
    }

    fn read(&self) -> Result<Grants, BoxError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Grants::new()),
            Err(error) => return Err(error.into()),
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    fn change(&self, change: impl FnOnce(&mut Grants)) -> Result<(), BoxError> {
        let _writing = self.writing.lock();
        if let Some(directory) = self.path.parent() {
            fs::create_dir_all(directory)?;
        }
        let _locked = self.locked(".lock")?;
        let mut grants = self.read()?;
        change(&mut grants);
        let temporary = self.beside(&format!(".{}", std::process::id()));
        // A file left over by another program may have other permissions.
        let _ = fs::remove_file(&temporary);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(&grants)?)?;
        file.sync_all()?;
        Ok(fs::rename(&temporary, &self.path)?)
    }

    /// The path of a file next to that of the store.
    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    }

    /// Waits until no other program has locked a file, and locks it until it is closed.
    fn locked(&self, suffix: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.beside(suffix))?;
        #[cfg(unix)]
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(file)
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>> {
        let server = server.to_owned();
        Box::pin(blocking(self, move |store| Ok(store.read()?.remove(&server))))
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>> {
        let grant = grant.clone();
        Box::pin(blocking(self, move |store| {
            store.change(|grants| {
                grants.insert(grant.server.clone(), grant);
            })
        }))
    }

    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>> {
        let server = server.to_owned();
        Box::pin(blocking(self, move |store| {
            store.change(|grants| {
                grants.remove(&server);
            })
        }))
    }

    fn lock<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<StoreLock, BoxError>> {
        Box::pin(blocking(self, |store| {
            if let Some(directory) = store.path.parent() {
                fs::create_dir_all(directory)?;
            }
            Ok(StoreLock::new(store.locked(".refresh")?))
        }))
    }
}
