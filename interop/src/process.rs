//! Other programs, none of which outlives us.

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

/// A group of processes, all of which are killed when this is dropped.
#[derive(Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// The group that a process leads, because it was started by a command of [`leading`].
    pub fn of(process: Option<u32>) -> Self {
        Self(process.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // There is nobody left to kill when all of them have ended, as they should have.
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

/// A program that is running, with whatever it has started.
#[derive(Debug)]
pub struct Running {
    /// The process.
    pub child: Child,
    output: BufReader<ChildStdout>,
    /// Programs that serve end when this is closed.
    _input: Option<ChildStdin>,
    _group: Group,
}

impl Running {
    /// Starts a program; what it says on standard error goes to a file.
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

    /// The next line of its standard output.
    pub async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).await?;
        Ok((read > 0).then(|| line.trim_end().to_owned()))
    }

    /// Waits until it listens on a port of 127.0.0.1, or has ended: whether it listens.
    pub async fn listens(&mut self, port: u16) -> io::Result<bool> {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if self.child.try_wait()?.is_some() {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(true)
    }

    /// Closes its input, and reads the rest of its output so that it can end.
    pub async fn end(mut self) -> io::Result<std::process::ExitStatus> {
        self._input = None;
        while self.line().await?.is_some() {}
        self.child.wait().await
    }
}

/// A port for a program that can't choose one. Nobody else takes a port that has just been free, most likely.
pub async fn free_port() -> io::Result<u16> {
    let free = TcpListener::bind(("127.0.0.1", 0)).await?;
    Ok(free.local_addr()?.port())
}

/// Runs a program to its end, which must be a good one.
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

/// Runs a program to its end, whatever that is.
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

/// Tells a person, not a pipe, how far it has come.
pub fn progress(what: &str) {
    if io::stderr().is_terminal() {
        let _ = writeln!(io::stderr(), "{what}");
    }
}

/// Waits until somebody wants this program to stop.
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
