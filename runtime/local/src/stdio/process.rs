//! A child process on an operating system with signals.

use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

/// A child process in a process group of its own, together with the processes that it starts: signals that a terminal
/// sends, such as on Ctrl-C, don't reach the group.
#[derive(Debug)]
pub struct Process(Child);

impl Process {
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        command.process_group(0).spawn().map(Self)
    }

    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let Self(child) = self;
        Some((child.stdin.take()?, child.stdout.take()?, child.stderr.take()?))
    }

    pub fn id(&self) -> Option<u32> {
        self.0.id()
    }

    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.0.wait().await
    }

    /// Sends the group a signal to terminate; `false` if that fails.
    pub fn terminate(&self) -> bool {
        self.signal(Signal::TERM)
    }

    pub fn kill(&mut self) -> std::io::Result<()> {
        self.signal(Signal::KILL);
        self.0.start_kill()
    }

    fn signal(&self, signal: Signal) -> bool {
        // The child hasn't been waited for, so the id can't belong to another group.
        let id = self.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        id.is_some_and(|id| kill_process_group(id, signal).is_ok())
    }
}
