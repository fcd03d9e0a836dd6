//! The overlay of a new revision, from that of the revision before it: what was wrong there is usually wrong again.

use crate::load::{Document, Format};
use crate::overlay::Overlay;
use crate::problem::Problems;

/// The overlay of `predecessor` without what doesn't fit the schema of `revision`; `None` if nothing fits. What it says of the revision
/// as a whole is left out, because facts hold until another revision changes them.
///
/// # Errors
/// The problems of the predecessor's overlay.
pub(super) fn successor_overlay(
    text: &str,
    (predecessor, revision): (&str, &str),
    schema: &Document,
) -> Result<Option<String>, Problems> {
    let document = Document::parse("overlay.yaml", text.as_bytes(), Format::Yaml)?;
    let overlay = Overlay::of(document.clone())?;
    let mut misfits = overlay.misfits(schema);
    misfits.extend(document.get("#/facts").map(|_| "#/facts".to_owned()));
    let entries = without(text, &document, &misfits);
    if !entries.lines().any(|line| line.trim_start().starts_with("- ")) {
        return Ok(None);
    }
    let header = format!(
        "# From the overlay of {predecessor}, without what doesn't fit this schema. Review it: what is said of {predecessor} here may\n\
         # no longer hold, and the addresses are those of {revision}.\n\n"
    );
    Ok(Some(header + &entries.replace(predecessor, revision)))
}

/// The text without the comment at its start and without the values at these pointers.
fn without(text: &str, document: &Document, pointers: &[String]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let is_comment = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let mut kept = vec![true; lines.len()];
    kept[..lines.iter().take_while(|line| is_comment(line)).count()].fill(false);
    for pointer in pointers {
        let place = document.place(pointer).line - 1;
        let is_section = pointer.rfind('/') == Some(1);
        // The value of a section starts below its name.
        let start = (0..=place)
            .rev()
            .find(|line| !is_section || indentation(lines[*line]) == 0 && !is_comment(&lines[*line]));
        let start = start.unwrap_or(place);
        let comment = lines[..start]
            .iter()
            .rev()
            .take_while(|line| is_section && is_comment(line))
            .count();
        let within = lines[start + 1..]
            .iter()
            .take_while(|line| line.trim().is_empty() || indentation(line) > indentation(lines[start]));
        let mut end = start + 1 + within.count();
        while lines[end - 1].trim().is_empty() {
            end -= 1;
        }
        kept[start - comment..end].fill(false);
    }
    let kept = lines.iter().zip(kept).filter(|(_, kept)| *kept);
    kept.map(|(line, _)| format!("{line}\n")).collect()
}
