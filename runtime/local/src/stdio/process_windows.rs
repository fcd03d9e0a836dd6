//! A child process on Windows.

use std::mem::replace;
use std::process::ExitStatus;

use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// A child process in a job, together with all processes that it starts: `npx.cmd`, for example, is a shell whose child
/// is the server. The job ends when this is dropped.
#[derive(Debug)]
pub struct Process(Box<dyn ChildWrapper>);

impl Process {
    pub fn spawn(command: &mut Command) -> std::io::Result<Self> {
        let mut wrap = CommandWrap::from(replace(command, Command::new("")));
        wrap.wrap(CreationFlags(CREATE_NO_WINDOW))
            .wrap(KillOnDrop)
            .wrap(JobObject);
        let spawned = wrap.spawn();
        *command = wrap.into_command();
        spawned.map(Self)
    }

    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout, ChildStderr)> {
        let Self(child) = self;
        Some((child.stdin().take()?, child.stdout().take()?, child.stderr().take()?))
    }

    pub fn id(&self) -> Option<u32> {
        self.0.id()
    }

    pub async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        // Waiting for the job would wait for all processes that the child has started.
        self.0.inner_mut().wait().await
    }

    /// Returns `false`: Windows has no signal to terminate a process without a window.
    pub fn terminate(&self) -> bool {
        false
    }

    pub fn kill(&mut self) -> std::io::Result<()> {
        self.0.start_kill()
    }
}
