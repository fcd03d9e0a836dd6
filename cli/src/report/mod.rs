//! Reports on servers, and their formats.

mod findings;
mod junit;
mod text;

use std::io;

pub use self::findings::{Finding, Report};
use crate::args::ReportFormat;
use crate::error::Summary;
use crate::paint::Paint;

/// Writes reports, and returns whether all cases passed. In JSON they are a list, unless there is only one and
/// `is_list` is false.
pub fn write(reports: &[Report], format: ReportFormat, is_list: bool, mut output: impl Paint) -> io::Result<Summary> {
    match format {
        ReportFormat::Text => text::write(reports, &mut output)?,
        ReportFormat::Json => {
            match reports {
                [report] if !is_list => serde_json::to_writer_pretty(&mut output, report)?,
                reports => serde_json::to_writer_pretty(&mut output, reports)?,
            }
            writeln!(output)?;
        }
        ReportFormat::Junit => junit::write(reports, &mut output)?,
    }
    output.flush()?;
    Ok(Summary::of(reports.iter().all(|report| report.failed() == 0)))
}
