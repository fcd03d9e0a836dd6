//! The report of a release as text.

use std::fmt::Write as _;

use mcp_codegen::release::Bump;

use super::Report;
use super::registry::Published;
use super::release::Release;

/// The report for people.
pub fn text(report: &Report) -> String {
    let mut text = match &report.since {
        Some(tag) => format!("crates in the order of publishing, compared with {tag}:\n"),
        None => "crates in the order of publishing; there is no tag of an earlier release:\n".to_owned(),
    };
    for release in &report.crates {
        let name = match release.published {
            Published::Free => "the name is free",
            Published::Taken => "the registry has other versions",
            Published::Out => "it is published",
            Published::Unknown => "the registry wasn't queried, or didn't respond",
        };
        let _ = writeln!(text, "  {:<22} {:<18} {name}", release.name, step(release));
    }
    let what = match (report.packaged, report.verified) {
        (true, true) => "packaged, and compiled from the packages",
        (true, false) => "packaged, and not compiled",
        (false, _) => "not packaged",
    };
    let _ = write!(text, "{what}\n\ndraft for CHANGELOG.md:\n\n{}", report.changelog);
    for problem in &report.problems {
        let _ = write!(text, "\nproblem: {problem}\n");
    }
    text
}

/// The version step, from the released version to the needed one.
fn step(release: &Release) -> String {
    match (&release.released, &release.needed) {
        (None, _) => format!("{} (new)", release.version),
        (Some(released), Some(needed)) => format!("{released} -> {needed}"),
        (Some(released), None) => format!("{released} (unchanged)"),
    }
}

/// A section of CHANGELOG.md for each crate that is published.
pub fn changelog(crates: &[Release]) -> String {
    let sections = crates.iter().filter_map(|release| {
        let version = release.needed.as_deref()?;
        let title = match (&release.released, release.change.bump) {
            (None, _) => "Added",
            (_, Some(Bump::Major)) => "Changed (breaking)",
            (_, Some(Bump::Minor)) => "Added",
            _ => "Fixed",
        };
        let notes: String = release.change.notes.iter().map(|note| format!("- {note}\n")).collect();
        Some(format!("## `{}` {version}\n\n### {title}\n\n{notes}", release.name))
    });
    sections.collect::<Vec<_>>().join("\n")
}
