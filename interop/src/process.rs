//! Child processes, which never outlive this program.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::error::Error;

/// A process group, which is killed when this is dropped.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// The group that a process leads, if a command of [`leading`] started it.
    pub fn of(process: Option<u32>) -> Self {
        Self(process.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // This fails if all processes have ended, as they should have.
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// A command whose process leads a group.
pub fn leading(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.process_group(0).kill_on_drop(true);
    command
}

/// A running program, with the processes that it has started.
#[derive(Debug)]
pub struct Running {
    /// The process.
    pub child: Child,
    output: BufReader<ChildStdout>,
    /// A program that serves ends when this is closed.
    _input: Option<ChildStdin>,
    _group: Group,
}

impl Running {
    /// Starts a program, with its standard error written to a file.
    pub fn start(mut command: Command, errors: &Path) -> Result<Self, Error> {
        let errors = File::create(errors).map_err(Error::io(errors))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        let program = command.as_std().get_program().to_owned();
        let mut child = command.spawn().map_err(Error::io(Path::new(&program)))?;
        let group = Group::of(child.id());
        let unpiped = || Error::malformed(Path::new(&program), "its output isn't piped");
        let output = BufReader::new(child.stdout.take().ok_or_else(unpiped)?);
        Ok(Self {
            _input: child.stdin.take(),
            child,
            output,
            _group: group,
        })
    }

    /// Reads the next line of its standard output.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end().to_owned()))
    }

    /// Waits until the program listens on a port of 127.0.0.1, or has ended. Returns whether it listens.
    pub async fn listens(&mut self, port: u16) -> io::Result<bool> {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(true)
    }

    /// Closes its input, reads the rest of its output so that it can end, and waits for it.
    pub async fn end(mut self) -> io::Result<std::process::ExitStatus> {
        self._input = None;
        while self.line().await?.is_some() {}
        self.child.wait().await
    }
}

/// A port for a program that can't choose one. Another program is unlikely to take it in the meantime.
pub async fn free_port() -> io::Result<u16> {
    let free = TcpListener::bind(("127.0.0.1", 0)).await?;
    Ok(free.local_addr()?.port())
}

/// Runs a program to its end, and fails if the program fails.
pub async fn run(command: Command, remedy: &'static str) -> Result<Output, Error> {
    let words = std::iter::once(command.as_std().get_program()).chain(command.as_std().get_args());
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let output = output_of(command, remedy).await?;
    if output.status.success() {
        return Ok(output);
    }
    let text = [output.stdout.as_slice(), &output.stderr].concat();
    Err(Error::Failed {
        what: words.join(" "),
        status: output.status.to_string(),
        output: String::from_utf8_lossy(&text).trim().to_owned(),
    })
}

/// Runs a program to its end, and returns its output even if the program fails.
pub async fn output_of(mut command: Command, remedy: &'static str) -> Result<Output, Error> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::Missing {
            program: program.clone(),
            remedy,
        },
        _ => Error::io(Path::new(&program))(error),
    })?;
    let _group = Group::of(child.id());
    child.wait_with_output().await.map_err(Error::io(Path::new(&program)))
}

/// Shows progress, if standard error is a terminal.
pub fn progress(what: &str) {
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr(), "{what}");
    }
}

/// Waits for a signal to stop.
pub async fn shutdown_signal() {
    let (Ok(mut interrupted), Ok(mut terminated)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupted.recv() => {}
        _ = terminated.recv() => {}
    }
}
