//! The progress of a call: a bar on a terminal, and a line for each report elsewhere.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use mcp_runtime::Progress;
use tokio::sync::mpsc;

use crate::paint::columns;
use crate::status;
use crate::text::{one_line, say};

/// The time after which the elapsed time of a call is shown, and the interval between updates.
const SECOND: Duration = Duration::from_secs(1);

/// The number of characters of a bar.
const BAR: usize = 20;

/// Shows the progress of a call until it has ended.
pub async fn show_progress(mut progress: mpsc::Receiver<Progress>) {
    if !io::stderr().is_terminal() {
        while let Some(report) = progress.recv().await {
            let message = message(&report);
            say(&format!("[progress {}]{message}", count(&report)));
        }
        return;
    }
    let begun = Instant::now();
    let mut latest = None;
    loop {
        tokio::select! {
            report = progress.recv() => match report {
                Some(report) => latest = Some(report),
                None => break,
            },
            () = tokio::time::sleep(SECOND) => {}
        }
        let line = line(latest.as_ref(), begun.elapsed());
        let columns = columns(&io::stderr()).unwrap_or(80);
        // A line that fills the last column would start another one.
        status::show(line.chars().take(columns.saturating_sub(1)).collect());
    }
    status::show(String::new());
}

/// The progress and the time, such as `[#####---------------] 1/4 2 s reading`.
fn line(latest: Option<&Progress>, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    let Some(report) = latest else {
        return format!("[{seconds} s]");
    };
    let (count, message) = (count(report), message(report));
    match report.total.filter(|total| *total > 0.0) {
        Some(total) => {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "it is between 0 and the length of the bar"
            )]
            let done = ((report.progress / total).clamp(0.0, 1.0) * BAR as f64) as usize;
            let bar = "#".repeat(done) + &"-".repeat(BAR - done);
            format!("[{bar}] {count} {seconds} s{message}")
        }
        None => format!("[{count}] {seconds} s{message}"),
    }
}

fn count(report: &Progress) -> String {
    let total = report.total.map_or_else(String::new, |total| format!("/{total}"));
    format!("{}{total}", report.progress)
}

fn message(report: &Progress) -> String {
    let message = report.message.as_deref();
    message.map_or_else(String::new, |message| format!(" {}", one_line(message)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_shows_the_completed_part_and_the_elapsed_time() {
        let report = |progress, total, message: Option<&str>| Progress {
            progress,
            total,
            message: message.map(str::to_owned),
        };
        let elapsed = Duration::from_millis(2500);
        for (report, expected) in [
            (None, "[2 s]"),
            (
                Some(report(1.0, Some(4.0), Some("reading\u{1b}[2J"))),
                "[#####---------------] 1/4 2 s reading\u{fffd}[2J",
            ),
            (Some(report(9.0, Some(4.0), None)), "[####################] 9/4 2 s"),
            (Some(report(-1.0, Some(4.0), None)), "[--------------------] -1/4 2 s"),
            (
                Some(report(f64::NAN, Some(4.0), None)),
                "[--------------------] NaN/4 2 s",
            ),
            (Some(report(3.0, Some(0.0), None)), "[3/0] 2 s"),
            (Some(report(3.0, None, Some("reading"))), "[3] 2 s reading"),
        ] {
            assert_eq!(line(report.as_ref(), elapsed), expected);
        }
    }
}
