//! A server's socket, and its file.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use tokio::net::{UnixSocket, UnixStream};
use tokio::time::{sleep, timeout};

/// The number of clients that can wait to be accepted.
const BACKLOG: u32 = 1024;
/// How long to wait while other servers bind sockets in the same directory, and the interval between attempts to lock
/// it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_AGAIN: Duration = Duration::from_millis(5);

/// A Unix socket that listens at a path. Dropping this removes the file.
#[derive(Debug)]
pub struct UnixListener {
    listener: tokio::net::UnixListener,
    path: PathBuf,
    file: FileId,
}

impl UnixListener {
    /// Listens at this path. Only this user can connect.
    ///
    /// A socket that a dead server has left there is replaced. The directory must be one in which other users can't
    /// rename the file, such as one that belongs to this user, or one with the sticky bit, like `/tmp`.
    ///
    /// # Errors
    /// When the path is that of a file that isn't a socket ([`AlreadyExists`](io::ErrorKind::AlreadyExists)), when
    /// another server listens there ([`AddrInUse`](io::ErrorKind::AddrInUse)), or when the socket can't be created: its
    /// directory must exist and be readable, and the path can have only about 100 bytes.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::bind_with_mode(path, 0o600).await
    }

    /// Listens at this path, like [`bind`](Self::bind), with another mode of the file. Users who may write to the file
    /// can connect, such as the group with `0o660`.
    ///
    /// # Errors
    /// Those of [`bind`](Self::bind).
    ///
    /// # Panics
    /// Those of [`bind`](Self::bind).
    pub async fn bind_with_mode(path: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        let _lock = lock(path.parent().unwrap_or(&path)).await?;
        remove_stale(&path).await?;
        let socket = UnixSocket::new_stream()?;
        socket.bind(&path)?;
        // The mode is set before the socket listens, so nobody can connect earlier.
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

    /// Returns the absolute path at which it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        // Another server could have taken the path. Its file has another inode number, because this socket is still
        // open.
        if FileId::of(&self.path).is_ok_and(|file| file == self.file)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, path = %self.path.display(), "the socket can't be removed");
        }
    }
}

/// The identity of a file.
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

/// Locks the directory until the returned file is closed, so that only one server at a time binds a socket in it: a
/// socket that is bound but doesn't listen yet looks like that of a dead server.
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

/// Removes the socket of a dead server, if there is one. Fails if there is another file at the path.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let removed = async {
        if !fs::symlink_metadata(path)?.file_type().is_socket() {
            let reason = "there is a file that isn't a socket";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, reason));
        }
        match UnixStream::connect(path).await.map_err(|error| error.kind()) {
            Err(io::ErrorKind::ConnectionRefused) => fs::remove_file(path),
            // A server with a full queue of waiting clients is also alive.
            Ok(_) | Err(io::ErrorKind::WouldBlock) => {
                let reason = "another server listens on this socket";
                Err(io::Error::new(io::ErrorKind::AddrInUse, reason))
            }
            Err(error) => Err(error.into()),
        }
    };
    match removed.await {
        // A server that shuts down can remove its socket at any time.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
