//! The socket of a server, and its file.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::net::{UnixSocket, UnixStream};
use tokio::time::{sleep, timeout};

/// How many clients may wait to be accepted.
const BACKLOG: u32 = 1024;
/// For how long other servers may bind sockets in the same directory, and how often that is tried.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// A Unix socket that listens at a path. The file is removed when this is dropped.
#[derive(Debug)]
pub struct UnixListener {
    listener: tokio::net::UnixListener,
    path: PathBuf,
    file: FileId,
}

impl UnixListener {
    /// Listens at this path, at which nobody but this user may connect.
    ///
    /// A socket that a dead server has left there is replaced. The directory must be one where others can't rename the file, such as
    /// one of this user's, or one with the sticky bit as `/tmp` has it.
    ///
    /// # Errors
    /// When the path has a file that isn't a socket ([`AlreadyExists`](io::ErrorKind::AlreadyExists)), when another server listens there
    /// ([`AddrInUse`](io::ErrorKind::AddrInUse)), or when the socket can't be made: its directory must exist and be readable, and a path
    /// may have some 100 bytes.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::bind_with_mode(path, 0o600).await
    }

    /// Listens at this path, as [`bind`](Self::bind) does, with another mode of the file: those may connect who may write to it, such
    /// as the group with `0o660`.
    ///
    /// # Errors
    /// Those of [`bind`](Self::bind).
    ///
    /// # Panics
    /// As [`bind`](Self::bind).
    pub async fn bind_with_mode(path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let _lock = lock(path.parent().unwrap_or(&path)).await?;
        remove_stale(&path).await?;
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        // Nobody can connect before it listens, and so not before it has its mode.
        fs::set_permissions(&path, Permissions::from_mode(mode))?;
        let listener = socket.listen(BACKLOG)?;
        let file = FileId::of(&path)?;
        Ok(Self { listener, path, file })
    }

    /// Accepts the next client.
    ///
    /// # Errors
    /// Those of the operating system, such as when the process has too many files open.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        let (stream, _) = self.listener.accept().await?;
        Ok(stream)
    }

    /// Where it listens, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        // Another server may have taken the path. Its file has another number, as this socket is still open.
        if FileId::of(&self.path).is_ok_and(|file| file == self.file)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "the socket can't be removed");
        }
    }
}

/// What identifies a file.
#[derive(Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }
}

/// Lets one server at a time bind a socket in this directory, until the file is closed: a socket that is bound and doesn't listen yet
/// looks like that of a dead server.
async fn lock(directory: &Path) -> io::Result<File> {
    let directory = File::open(directory)?;
    let locked = timeout(LOCK_TIMEOUT, async {
        loop {
            match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) => sleep(LOCK_AGAIN).await,
                locked => return locked,
            }
        }
    });
    locked.await.map_err(|_| {
        let reason = "another process has locked the directory";
        io::Error::new(io::ErrorKind::TimedOut, reason)
    })??;
    Ok(directory)
}

/// Removes the socket of a dead server, if there is one. Fails if the path has another file.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let removed = async {
        if !fs::symlink_metadata(path)?.file_type().is_socket() {
            let reason = "there is a file that isn't a socket";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        match UnixStream::connect(path).await.map_err(|error| error.kind()) {
            Err(io::ErrorKind::ConnectionRefused) => fs::remove_file(path),
            // A server for which too many clients wait is live too.
            Ok(_) | Err(io::ErrorKind::WouldBlock) => {
                let reason = "another server listens on this socket";
                Err(io::Error::new(io::ErrorKind::AddrInUse, reason))
            }
            Err(error) => Err(error.into()),
        }
    };
    match removed.await {
        // A server that ends may remove it at any time.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
