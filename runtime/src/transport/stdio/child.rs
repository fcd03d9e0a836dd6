//! A child process as the peer.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use super::{Incoming, Limits, LineReceiver, LineSender, Outgoing, Receiver, Sender, Transport, TransportError, over};

/// How long the pipes of a child that is gone are read: a grandchild may hold them open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// How a child is run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SpawnOptions {
    /// How much is taken from the child.
    pub limits: Limits,
    /// How long a child has to end by itself once its input is closed, and again once it has been terminated.
    pub grace: Duration,
    /// The bytes of a line of its standard error that are told to tracing.
    pub stderr_bytes: usize,
}

impl Default for SpawnOptions {
    /// The default limits, a grace period of 2 seconds, and 8 KiB of each line of the standard error.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            grace: Duration::from_secs(2),
            stderr_bytes: 8 * 1024,
        }
    }
}

impl SpawnOptions {
    /// The same options with these limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same options with this grace period.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

/// A client's connection to a server that it has started.
#[derive(Debug)]
pub struct ChildTransport {
    id: Option<u32>,
    sender: ChildSender,
    receiver: ChildReceiver,
}

impl ChildTransport {
    /// The child's process id. Once the child has ended it may become another's.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.id
    }
}

/// The half of a [`ChildTransport`] that sends. Once it is dropped the child is ended, as by closing.
#[derive(Debug)]
pub struct ChildSender {
    lines: LineSender<ChildStdin>,
    exited: CancellationToken,
    /// Dropped to ask for the child's end.
    alive: std::sync::Mutex<Option<oneshot::Sender<()>>>,
}

/// The half of a [`ChildTransport`] that receives.
#[derive(Debug)]
pub struct ChildReceiver {
    lines: LineReceiver<ChildStdout>,
    exited: CancellationToken,
}

/// Starts a server. Its standard error goes to tracing, line by line.
///
/// Closing the connection closes the child's input; if it is still there after the grace period it is terminated (on
/// Unix), and after another it is killed. The end of the child ends the connection.
///
/// # Errors
/// When the child can't be started.
///
/// # Panics
/// When it is called outside of a tokio runtime.
pub fn spawn(mut command: Command, options: SpawnOptions) -> std::io::Result<ChildTransport> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(std::io::Error::other("the child has no pipes"));
    };

    let (alive, dropped) = oneshot::channel();
    let exited = CancellationToken::new();
    let id = child.id();
    tokio::spawn(relate(stderr, id, options.stderr_bytes, exited.clone()));
    let guard = exited.clone().drop_guard();
    tokio::spawn(async move {
        let _guard = guard;
        watch(child, dropped, options.grace).await;
    });

    let (lines, receiver) = over(stdout, stdin, options.limits).split();
    Ok(ChildTransport {
        id,
        sender: ChildSender {
            lines,
            exited: exited.clone(),
            alive: std::sync::Mutex::new(Some(alive)),
        },
        receiver: ChildReceiver {
            lines: receiver,
            exited,
        },
    })
}

/// Waits for the child's end, and brings it about when that is asked for.
async fn watch(mut child: Child, asked: oneshot::Receiver<()>, grace: Duration) {
    let id = child.id();
    let ended = tokio::select! {
        ended = child.wait() => Some(ended),
        _ = asked => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => end(&mut child, grace).await,
    };
    match ended {
        Ok(status) => tracing::debug!(id, %status, "the child has ended"),
        Err(error) => tracing::warn!(id, %error, "the child's end can't be waited for"),
    }
}

async fn end(child: &mut Child, grace: Duration) -> std::io::Result<std::process::ExitStatus> {
    if let Ok(ended) = timeout(grace, child.wait()).await {
        return ended;
    }
    if terminate(child)
        && let Ok(ended) = timeout(grace, child.wait()).await
    {
        return ended;
    }
    tracing::warn!(id = child.id(), "the child didn't end and is killed");
    child.start_kill()?;
    child.wait().await
}

#[cfg(unix)]
fn terminate(child: &Child) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    // The child hasn't been waited for, and so the id is still its own.
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    id.is_some_and(|id| kill_process(id, Signal::TERM).is_ok())
}

#[cfg(not(unix))]
fn terminate(_child: &Child) -> bool {
    false
}

/// Tells tracing what the child says on its standard error.
async fn relate(stderr: ChildStderr, id: Option<u32>, limit: usize, exited: CancellationToken) {
    let mut lines = Lines::new(stderr, limit);
    let read = async {
        while let Ok(Some(line)) = lines.next().await {
            let (text, cut) = match &line {
                Line::Whole(text) => (text, ""),
                Line::TooLong(text) => (text, " …"),
            };
            tracing::info!(target: "mcp_runtime::stderr", id, "{}{cut}", String::from_utf8_lossy(text));
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
}

impl Transport for ChildTransport {
    type Sender = ChildSender;
    type Receiver = ChildReceiver;

    fn split(self) -> (ChildSender, ChildReceiver) {
        (self.sender, self.receiver)
    }
}

impl Sender for ChildSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        tokio::select! {
            sent = self.lines.send(message) => sent,
            // A grandchild that holds the pipe open doesn't read for the child.
            () = self.exited.cancelled() => Err(TransportError::Closed),
        }
    }

    async fn close(&self) {
        self.lines.close().await;
        self.alive
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take();
        self.exited.cancelled().await;
    }
}

impl Receiver for ChildReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        tokio::select! {
            biased;
            received = self.lines.receive() => return received,
            () = self.exited.cancelled() => {}
        }
        timeout(DRAIN, self.lines.receive()).await.unwrap_or(Ok(None))
    }
}
