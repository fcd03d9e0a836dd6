//! Reports as text for people.

use std::io;

use mcp_adapters::PeerTypes;

use super::findings::Report;
use crate::paint::{BAD, DOUBTFUL, GOOD, HEADING, Paint};
use crate::plain::plain;
use crate::text::one_line;

/// Writes reports as text for people.
pub fn write(reports: &[Report], output: &mut impl Paint) -> io::Result<()> {
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        write_report(report, output)?;
    }
    Ok(())
}

fn write_report(report: &Report, output: &mut impl Paint) -> io::Result<()> {
    let era = match report.revision.has_handshake() {
        true => "with a handshake",
        false => "stateless",
    };
    let heading = format!("{}, revision {}, {era}", report.name(), report.revision);
    output.paint(HEADING, &heading)?;
    writeln!(output, "\n")?;
    for case in &report.cases {
        let (outcome, style) = if case.passed { ("ok", GOOD) } else { ("FAIL", BAD) };
        let note = case
            .note
            .as_ref()
            .map_or_else(String::new, |note| format!("  ({})", plain(note)));
        output.paint(style, outcome)?;
        let space = 6 - outcome.len();
        writeln!(output, "{:space$}{}{note}", "", one_line(&case.name))?;
        for warning in &case.warnings {
            output.write_all(b"      ")?;
            output.paint(DOUBTFUL, "warning:")?;
            writeln!(output, " {}", plain(warning))?;
        }
        for finding in &case.findings {
            writeln!(output, "      {}", plain(&finding.to_string()))?;
            let places = [&finding.schema, &finding.specification].into_iter().flatten();
            for place in places {
                writeln!(output, "        {place}")?;
            }
        }
    }
    let (all, failed) = (report.cases.len(), report.failed());
    let warnings = match report.warnings() {
        0 => String::new(),
        1 => ", with a warning".to_owned(),
        count => format!(", with {count} warnings"),
    };
    writeln!(
        output,
        "\n{} of {all} passed{warnings}; the server sent {} messages",
        all - failed,
        report.messages
    )
}
