//! Server programs, and the resources that they use.

use std::process::Stdio;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::BufReader;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::stdio::{Lines, Writer};

/// A server program: its name in tables, and its command, whose arguments are separated by spaces.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name in tables.
    pub name: String,
    command: String,
}

impl FromStr for Program {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text.split_once('=').ok_or("expected NAME=COMMAND")?;
        Ok(Self {
            name: name.to_owned(),
            command: command.to_owned(),
        })
    }
}

impl Program {
    /// Starts it in one of its modes, with pipes. Dropping the child kills it.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(&self, mode: &str) -> Result<(Child, ChildStdin, ChildStdout)> {
        let mut words = self.command.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(mode).kill_on_drop(true);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command
            .spawn()
            .with_context(|| format!("can't start {}", self.command))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok((child, input.context("no stdin")?, output.context("no stdout")?))
    }

    /// Starts it in a mode that reads and writes messages as lines.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn lines(&self, mode: &str) -> Result<(Child, Writer, Lines)> {
        let (child, input, output) = self.start(mode)?;
        Ok((child, Writer(input), Lines(BufReader::with_capacity(1 << 16, output))))
    }

    /// Starts it in an HTTP mode, and returns its URL. It runs until its standard input is closed.
    ///
    /// # Errors
    /// If it doesn't start or prints no URL.
    pub async fn http(&self, mode: &str) -> Result<(Child, ChildStdin, String)> {
        let (child, input, mut lines) = self.lines(mode)?;
        let url = lines.next().await?.context("the server ended without a URL")?;
        Ok((child, input.0, url))
    }
}

/// The resources that a process has used.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Its CPU time in user and kernel mode, in steps of 10 ms.
    pub cpu: Duration,
    /// Its peak resident memory, in bytes.
    pub peak: u64,
    /// Its present resident memory, in bytes.
    pub resident: u64,
}

impl Usage {
    /// Reads the usage of a process from /proc.
    ///
    /// # Errors
    /// If the process has ended, or this isn't Linux.
    pub fn of(child: &Child) -> Result<Self> {
        let Some(id) = child.id() else {
            bail!("the server has ended")
        };
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        // The name, in parentheses, can contain spaces. The first field after it is the third, the state.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<u64>().ok());
        let (Some(user), Some(system)) = (ticks(11), ticks(12)) else {
            bail!("/proc/{id}/stat has no times")
        };
        let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
        let memory = |name| {
            let text = status.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = text.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
            kilobytes
                .map(|kilobytes| kilobytes * 1024)
                .context("no memory in /proc")
        };
        Ok(Self {
            // USER_HZ is 100 on every common architecture of Linux.
            cpu: Duration::from_millis((user + system) * 10),
            peak: memory("VmHWM:")?,
            resident: memory("VmRSS:")?,
        })
    }
}
