//! Derives the overlay of a new revision from that of the previous one, because schemas usually repeat mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mcp_wire::json_schema::DEFINITIONS;
use serde_json::Value;

use crate::error::GenerateError;
use crate::load::{Document, Format, OVERLAY};
use crate::overlay::Overlay;
use crate::problem::{Problem, Problems};
use crate::protocol::Protocol;

/// Start of the comment that lists the entries left out of an overlay.
const LEFT_OUT: &str = "# What the overlay of";

/// An overlay that is derived from the previous revision's, entry by entry.
pub(super) struct Successor {
    predecessor: String,
    revision: String,
    entries: String,
    left_out: Vec<LeftOut>,
}

/// An entry of the previous revision's overlay that doesn't fit the new revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The text of the entry in the previous revision's overlay.
    pub entry: String,
    /// The reason why it doesn't fit.
    pub why: String,
}

/// The result of a check that passed.
pub(super) struct Passed {
    pub(super) checked: Protocol,
    /// The overlay that passed; `None` if it has no entries.
    pub(super) overlay: Option<String>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Passed {
    /// Runs a check with the entries of an overlay that pass it, or without an overlay.
    pub(super) fn by(
        overlay: Option<Successor>,
        mut check: impl FnMut(Option<&str>) -> Result<Protocol, GenerateError>,
    ) -> Result<Self, GenerateError> {
        match overlay {
            Some(overlay) => overlay.passing(check),
            None => Ok(Self {
                checked: check(None)?,
                overlay: None,
                left_out: Vec::new(),
            }),
        }
    }
}

impl Successor {
    /// Takes the overlay of `predecessor` without the entries that don't fit the schema of `revision`. Facts and the
    /// summary are left out too: facts hold until another revision changes them, and what was new isn't any more.
    pub(super) fn new(text: &str, (predecessor, revision): (&str, &str), schema: &Document) -> Result<Self, Problems> {
        // The list of entries that were left out of that overlay isn't repeated.
        let text = text.find(&format!("\n{LEFT_OUT}")).map_or(text, |end| &text[..=end]);
        let text = &with_pointers_into(schema, text);
        let document = Document::parse(OVERLAY, text.as_bytes(), Format::Yaml)?;
        let overlay = Overlay::of(document.clone())?;
        let misfits = overlay.misfits(schema);
        let whole = |pointer: &&String| pointer.split('/').count() == 3;
        let left_out = misfits.iter().filter(whole).map(|pointer| LeftOut {
            entry: cut(text, &document, [pointer]).1.concat(),
            why: "this schema doesn't have what it expects".to_owned(),
        });
        let left_out = left_out.collect();
        let mut pointers = with_sections(&document, misfits.into_iter().collect());
        let own = ["#/facts", "#/summary"]
            .into_iter()
            .filter(|at| document.get(at).is_some());
        pointers.extend(own.map(str::to_owned));
        Ok(Self {
            predecessor: predecessor.to_owned(),
            revision: revision.to_owned(),
            entries: cut(text, &document, &pointers).0,
            left_out,
        })
    }

    /// Leaves out the entries that a check names until it passes, and returns the rest of the overlay, if there is any,
    /// and the entries left out. If no entry is to blame, the check runs without an overlay, and its error is returned.
    pub(super) fn passing(
        mut self,
        mut check: impl FnMut(Option<&str>) -> Result<Protocol, GenerateError>,
    ) -> Result<Passed, GenerateError> {
        loop {
            let overlay = self.text();
            let error = match check(overlay.as_deref()) {
                Ok(checked) => {
                    return Ok(Passed {
                        checked,
                        overlay,
                        left_out: self.left_out,
                    });
                }
                Err(error) => error,
            };
            let Some(entry) = overlay else { return Err(error) };
            let is_less = match &error {
                GenerateError::Problems(problems) => self.leave_out(problems),
                _ => false,
            };
            if !is_less {
                // No single entry is the cause: without the overlay, the schema has other problems, or none.
                let why = error.to_string();
                return Ok(Passed {
                    checked: check(None)?,
                    overlay: None,
                    left_out: vec![LeftOut { entry, why }],
                });
            }
        }
    }

    /// Returns the text of the overlay; `None` if it has no entries.
    fn text(&self) -> Option<String> {
        let (predecessor, revision) = (&self.predecessor, &self.revision);
        if !self.entries.lines().any(|line| line.trim_start().starts_with("- ")) {
            return None;
        }
        let mut text = format!(
            "# From the overlay of {predecessor}, without what doesn't fit this schema. Review it: what is said of {predecessor} here may\n\
             # no longer hold, and the addresses are those of {revision}.\n\n"
        );
        let entries = self.entries.lines().map(|line| match line.contains("https://") {
            true => line.replace(predecessor, revision) + "\n",
            false => format!("{line}\n"),
        });
        text.extend(entries);
        if !self.left_out.is_empty() {
            let _ = write!(text, "\n{LEFT_OUT} {predecessor} has and this schema can't have:\n");
        }
        for LeftOut { entry, why } in &self.left_out {
            let lines = why.lines().map(|line| format!("#\n# {line}:\n")).take(1);
            let entry = entry
                .lines()
                .map(|line| format!("# {line}").trim_end().to_owned() + "\n");
            text.extend(lines.chain(entry));
        }
        Some(text)
    }

    /// Leaves out the entries that problems name. Returns `false` if they name none.
    fn leave_out(&mut self, problems: &Problems) -> bool {
        let Some(text) = self.text() else { return false };
        let Ok(document) = Document::parse(OVERLAY, self.entries.as_bytes(), Format::Yaml) else {
            return false;
        };
        let mut named = BTreeMap::new();
        for problem in problems {
            if let Some(entry) = entry_of(problem) {
                named.entry(entry).or_insert_with(|| problem.what.clone());
            }
        }
        self.left_out.extend(named.iter().map(|(pointer, why)| LeftOut {
            entry: cut(&self.entries, &document, [pointer]).1.concat(),
            why: why.clone(),
        }));
        let pointers = named.into_keys().collect();
        self.entries = cut(&self.entries, &document, &with_sections(&document, pointers)).0;
        self.text().is_none_or(|after| after != text)
    }
}

/// Changes the pointers in an overlay if a schema has its definitions under the other keyword.
fn with_pointers_into(schema: &Document, text: &str) -> String {
    let [old, new] = DEFINITIONS.map(|keyword| (schema.root().get(keyword).is_some(), format!("#/{keyword}/")));
    match (old, new) {
        ((true, old), (false, new)) => text.replace(&new, &old),
        ((false, old), (true, new)) => text.replace(&old, &new),
        _ => text.to_owned(),
    }
}

/// Returns the entry of the overlay that a problem is about, such as `#/corrections/0`.
fn entry_of(problem: &Problem) -> Option<String> {
    let mut tokens = problem
        .pointer
        .strip_prefix("#/")
        .filter(|_| problem.file == OVERLAY)?
        .split('/');
    let (section, index) = (tokens.next()?, tokens.next()?);
    Some(format!("#/{section}/{index}"))
}

/// Returns these entries, with the section in place of its entries if they include all of them.
fn with_sections(document: &Document, mut entries: BTreeSet<String>) -> BTreeSet<String> {
    let sections = entries.iter().filter_map(|entry| entry.split('/').nth(1));
    let sections: BTreeSet<String> = sections.map(|section| format!("#/{section}")).collect();
    for section in sections {
        let count = document.get(&section).and_then(Value::as_array).map_or(0, Vec::len);
        if (0..count).all(|index| entries.contains(&format!("{section}/{index}"))) {
            entries.retain(|entry| !entry.starts_with(&format!("{section}/")));
            entries.insert(section);
        }
    }
    entries
}

/// Removes the comment at the start of a text, and the values at these pointers. Returns the rest, and the text of each
/// value.
fn cut<'p>(text: &str, document: &Document, pointers: impl IntoIterator<Item = &'p String>) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let is_comment = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let mut kept = vec![true; lines.len()];
    kept[..lines.iter().take_while(|line| is_comment(line)).count()].fill(false);
    let mut values = Vec::new();
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
        values.push(lines[start..end].iter().map(|line| format!("{line}\n")).collect());
    }
    let kept = lines.iter().zip(kept).filter(|(_, kept)| *kept);
    (kept.map(|(line, _)| format!("{line}\n")).collect(), values)
}
