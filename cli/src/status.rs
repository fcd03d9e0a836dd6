//! A status line at the bottom of a terminal, which stays below everything that is written while it is shown.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

static STATUS: Mutex<Status> = Mutex::new(Status {
    line: String::new(),
    is_drawn: false,
    holds: 0,
});

struct Status {
    line: String,
    is_drawn: bool,
    /// The number of holders that hide the line.
    holds: usize,
}

/// Shows a line on standard error, which must be a terminal, in place of the previous one. An empty line shows nothing.
///
/// The line must have no control characters, and must fit the width of the terminal.
pub fn show(line: String) {
    let mut status = status();
    status.erase();
    status.line = line;
    status.draw();
}

/// Hides the line until it is shown again or something else is written.
pub fn erase() {
    status().erase();
}

/// Writes to standard error, above the line.
pub fn write_above(text: &[u8]) -> io::Result<()> {
    let mut status = status();
    status.erase();
    io::stderr().write_all(text)?;
    status.draw();
    Ok(())
}

/// Hides the line while the user types. Dropping this shows it again.
pub struct Hold;

impl Hold {
    pub fn new() -> Self {
        let mut status = status();
        status.erase();
        status.holds += 1;
        Self
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut status = status();
        status.holds -= 1;
        status.draw();
    }
}

impl Status {
    fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    fn draw(&mut self) {
        if !self.line.is_empty() && self.holds == 0 {
            self.is_drawn = io::stderr().write_all(self.line.as_bytes()).is_ok();
        }
    }
}

fn status() -> MutexGuard<'static, Status> {
    STATUS.lock().unwrap_or_else(PoisonError::into_inner)
}
