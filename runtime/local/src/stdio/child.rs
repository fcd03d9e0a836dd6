//! A child process as the peer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mcp_runtime_core::transport::{
    Incoming, Outgoing, ProcessExit, Receiver, Restart, Sender, Transport, TransportError,
};
use mcp_runtime_util::Mutex;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::process::Process;
use crate::lines::{Line, LineLimits, LineReader, LineReceiver, LineSender, LineTransport};

/// How long the pipes of an exited child are still read: a grandchild could hold them open forever.
const DRAIN: Duration = Duration::from_millis(500);
/// The bytes of the standard error in a [`ProcessExit`].
const TAIL: usize = 4 * 1024;

/// The options of a child process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SpawnOptions {
    /// The limits of the transport.
    pub limits: LineLimits,
    /// The time that the child has to exit after its input is closed, and again after it is terminated.
    pub grace: Duration,
    /// The bytes of each line of its standard error that are logged to `tracing`.
    pub stderr_bytes: usize,
    /// The name of the server in this log.
    pub server: Option<String>,
}

impl Default for SpawnOptions {
    /// The default limits, a grace period of 2 seconds, and 8 KiB of each line of the standard error.
    fn default() -> Self {
        Self {
            limits: LineLimits::default(),
            grace: Duration::from_secs(2),
            stderr_bytes: 8 * 1024,
            server: None,
        }
    }
}

impl SpawnOptions {
    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: LineLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the grace period.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Names the server in the log of its standard error, which otherwise has only the id of its process.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }
}

/// A client's transport to a server process that it has started.
#[derive(Debug)]
pub struct ChildTransport {
    id: Option<u32>,
    /// The command that started it, kept to start it again.
    command: Option<Command>,
    options: SpawnOptions,
    sender: ChildSender,
    receiver: ChildReceiver,
}

impl ChildTransport {
    /// Returns the child's process id. After the child has exited, another process can get the same id.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.id
    }
}

/// The half of a [`ChildTransport`] that sends. Dropping it ends the child, like closing it.
#[derive(Debug)]
pub struct ChildSender {
    lines: LineSender<ChildStdin>,
    exited: CancellationToken,
    exit: Exit,
    /// Dropped to end the child.
    alive: Mutex<Option<oneshot::Sender<()>>>,
}

/// The half of a [`ChildTransport`] that receives.
#[derive(Debug)]
pub struct ChildReceiver {
    lines: LineReceiver<ChildStdout>,
    exited: CancellationToken,
    exit: Exit,
}

/// The exit of the child, once it is known.
#[derive(Debug, Clone)]
struct Exit(watch::Receiver<Option<ProcessExit>>);

impl Exit {
    /// Returns the error of a connection whose pipes are closed. It waits only briefly for the exit, because a child
    /// can close its pipes without exiting.
    async fn error(&self) -> TransportError {
        let mut exit = self.0.clone();
        let known = async { exit.wait_for(Option::is_some).await.ok().and_then(|exit| exit.clone()) };
        match timeout(2 * DRAIN, known).await {
            Ok(Some(exit)) => TransportError::Exited(exit),
            _ => TransportError::Closed,
        }
    }
}

/// The error of a server that couldn't be started.
#[derive(Debug, thiserror::Error)]
#[error("can't start `{program}`{}: {error}", in_directory(directory.as_deref()))]
#[non_exhaustive]
pub struct SpawnError {
    /// The program.
    pub program: String,
    /// The working directory that the command sets, if it isn't a directory.
    pub directory: Option<PathBuf>,
    /// The error of the operating system.
    pub error: std::io::Error,
}

fn in_directory(directory: Option<&Path>) -> String {
    directory.map_or_else(String::new, |directory| {
        format!(" in `{}`, which isn't a directory", directory.display())
    })
}

/// Returns the command for a program. On Windows, the program is looked up like in a shell, with the extensions of
/// `PATHEXT`: `npx` is `npx.cmd`.
///
/// The arguments of such a batch file are quoted; for arguments that can't be quoted, [`spawn`] fails.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    #[cfg(windows)]
    if let Ok(path) = which::which(program.as_ref()) {
        return Command::new(path);
    }
    Command::new(program)
}

/// Starts a server. Its standard error is logged to `tracing`, line by line.
///
/// Closing the connection closes the child's input. If the child is still running after the grace period, it is terminated
/// (on Unix), and after another grace period it is killed. A child that exits on its own ends the connection with
/// [`TransportError::Exited`], which has its exit status and the end of its standard error.
///
/// On Unix, the child has a process group of its own. Ctrl-C in a terminal doesn't reach it, so that calls in flight can
/// complete, the signals that terminate and kill it reach the processes that it has started, and it can't read from the
/// terminal. On Windows, the child has no console window, and the processes that it has started end with it.
///
/// # Errors
/// When the child can't be started, for example because there is no such program.
///
/// # Panics
/// When it is called outside of a tokio runtime.
pub fn spawn(mut command: Command, options: SpawnOptions) -> Result<ChildTransport, SpawnError> {
    // The operating system reports a missing directory like a missing program.
    let failed = |error, command: &Command| SpawnError {
        program: command.as_std().get_program().to_string_lossy().into_owned(),
        directory: command
            .as_std()
            .get_current_dir()
            .filter(|directory| !directory.is_dir())
            .map(Path::to_owned),
        error,
    };
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = Process::spawn(&mut command).map_err(|error| failed(error, &command))?;
    let Some((stdin, stdout, stderr)) = child.take_pipes() else {
        return Err(failed(std::io::Error::other("the child has no pipes"), &command));
    };

    let (alive, dropped) = oneshot::channel();
    let exited = CancellationToken::new();
    let id = child.id();
    let reading_stderr = tokio::spawn(log_stderr(stderr, id, options.clone(), exited.clone()));
    let guard = exited.clone().drop_guard();
    let (known, exit) = watch::channel(None);
    let exit = Exit(exit);
    tokio::spawn(async move {
        let Some(status) = watch(child, dropped, options.grace).await else {
            return;
        };
        drop(guard);
        let stderr = reading_stderr.await.unwrap_or_default();
        known.send_replace(Some(ProcessExit::new(status, stderr)));
    });

    let (lines, receiver) = LineTransport::new(stdout, stdin, options.limits).split();
    Ok(ChildTransport {
        id,
        command: Some(command),
        options,
        sender: ChildSender {
            lines,
            exited: exited.clone(),
            exit: exit.clone(),
            alive: Mutex::new(Some(alive)),
        },
        receiver: ChildReceiver {
            lines: receiver,
            exited,
            exit,
        },
    })
}

/// Waits until the child exits, and ends it on request. Returns the status of a child that exited on its own.
async fn watch(
    mut child: Process,
    end_requested: oneshot::Receiver<()>,
    grace: Duration,
) -> Option<Option<ExitStatus>> {
    let id = child.id();
    let by_itself = tokio::select! {
        ended = child.wait() => Some(ended),
        _ = end_requested => None,
    };
    let is_by_itself = by_itself.is_some();
    let ended = match by_itself {
        Some(ended) => ended,
        None => end(&mut child, grace).await,
    };
    match &ended {
        Ok(status) => tracing::debug!(id, %status, "the child has ended"),
        Err(error) => tracing::warn!(id, %error, "waiting for the child's exit failed"),
    }
    is_by_itself.then(|| ended.ok())
}

async fn end(child: &mut Process, grace: Duration) -> std::io::Result<ExitStatus> {
    if let Ok(ended) = timeout(grace, child.wait()).await {
        return ended;
    }
    if child.terminate()
        && let Ok(ended) = timeout(grace, child.wait()).await
    {
        return ended;
    }
    tracing::warn!(id = child.id(), "the child didn't exit and is killed");
    child.kill()?;
    child.wait().await
}

/// Logs the lines of the child's standard error to `tracing`, and returns the last of them.
async fn log_stderr(stderr: ChildStderr, id: Option<u32>, options: SpawnOptions, exited: CancellationToken) -> String {
    let (server, limit) = (options.server.as_deref(), options.stderr_bytes);
    let mut lines = LineReader::new(stderr, limit);
    let mut tail = String::new();
    let read = async {
        while let Ok(Some(line)) = lines.next().await {
            let (text, cut) = match &line {
                Line::Whole(text) | Line::Last(text) => (text.as_slice(), ""),
                Line::TooLong(text) => (text.get(..limit).unwrap_or(text), " …"),
            };
            let text = String::from_utf8_lossy(text);
            tracing::info!(target: "mcp_runtime::stderr", server, id, "{text}{cut}");
            push_line(&mut tail, &text);
        }
    };
    let drained = async {
        exited.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        () = read => {}
        () = drained => {}
    }
    tail
}

/// Appends a line to the last lines, of which [`TAIL`] bytes are kept.
fn push_line(tail: &mut String, line: &str) {
    if !tail.is_empty() {
        tail.push('\n');
    }
    tail.push_str(line);
    let excess = tail.len().saturating_sub(TAIL);
    let start = (excess..tail.len()).find(|at| tail.is_char_boundary(*at));
    tail.drain(..start.unwrap_or_default());
}

impl Transport for ChildTransport {
    type Sender = ChildSender;
    type Receiver = ChildReceiver;

    fn split(self) -> (ChildSender, ChildReceiver) {
        (self.sender, self.receiver)
    }

    fn restart(&mut self) -> Option<Restart<Self>> {
        let (command, options) = (self.command.take()?, self.options.clone());
        Some(Box::new(move || {
            spawn(command, options).map_err(|error| TransportError::Other(Box::new(error)))
        }))
    }
}

impl ChildSender {
    async fn unless_exited(
        &self,
        sending: Pin<&mut impl Future<Output = Result<(), TransportError>>>,
    ) -> Result<(), TransportError> {
        let sent = tokio::select! {
            biased;
            sent = sending => sent,
            // A grandchild could hold the pipe open without reading. The block costs nothing until it is polled.
            () = async { self.exited.cancelled().await } => Err(TransportError::Closed),
        };
        match sent {
            Err(TransportError::Closed) => Err(self.exit.error().await),
            sent => sent,
        }
    }
}

impl Sender for ChildSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        self.unless_exited(pin!(self.lines.send(message))).await
    }

    async fn send_all(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        self.unless_exited(pin!(self.lines.send_all(messages))).await
    }

    async fn close(&self) {
        self.lines.close().await;
        self.alive.lock().take();
        self.exited.cancelled().await;
    }
}

impl Receiver for ChildReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        let received = tokio::select! {
            biased;
            received = self.lines.receive() => received,
            () = async { self.exited.cancelled().await } => timeout(DRAIN, self.lines.receive()).await.unwrap_or(Ok(None)),
        };
        match received {
            Ok(None) => match self.exit.error().await {
                TransportError::Closed => Ok(None),
                exited => Err(exited),
            },
            received => received,
        }
    }
}
