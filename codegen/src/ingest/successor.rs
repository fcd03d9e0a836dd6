//! Derives the overlay of a new revision from that of the previous one, because schemas usually repeat mistakes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mcp_json_schema::pointer;
use serde_json::Value;

use crate::error::GenerateError;
use crate::load::{Document, Format, OVERLAY, is_within};
use crate::overlay::Overlay;
use crate::problem::{Place, Problem, Problems};
use crate::protocol::Protocol;

/// Start of the comment that lists the entries left out of an overlay.
const LEFT_OUT: &str = "# What the overlay of";

/// An overlay that is derived from the previous revision's, entry by entry. By default, it has no entries.
#[derive(Default)]
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

impl Successor {
    /// Takes the overlay of `predecessor` without the entries that don't fit the schema of `revision`. Facts and the
    /// summary are left out too: facts hold until another revision changes them, and what was new isn't any more.
    pub(super) fn new(
        text: &str,
        (predecessor, revision): (&str, &str),
        schema: &Document,
    ) -> Result<Self, GenerateError> {
        // The list of entries that were left out of that overlay isn't repeated.
        let text = text.find(&format!("\n{LEFT_OUT}")).map_or(text, |end| &text[..=end]);
        let (text, document) = with_lines(text.to_owned())?;
        let text = text.as_str();
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

    /// Adds an entry that follows from the schema of the previous revision, unless the overlay already has it.
    pub(super) fn add(&mut self, section: &str, says: &str, why: &str, link: &str) {
        let is_known = says
            .split(", ")
            .next()
            .is_some_and(|subject| self.entries.contains(subject));
        if is_known || !link.starts_with("https://") {
            return;
        }
        let section = format!("{section}:\n");
        let entry = format!("  - {{{says}, why: {why}, link: {}}}\n", Value::from(link));
        self.entries = match self.entries.contains(&section) {
            true => self.entries.replacen(&section, &format!("{section}{entry}"), 1),
            false => format!("{section}{entry}{}", self.entries),
        };
    }

    /// Leaves out the entries that a check names until it passes, and returns the rest of the overlay, if there is any,
    /// and the entries left out. If the overlay has problems for which no entry is to blame, the check runs without it; if
    /// it also fails then, the error is that with the overlay.
    pub(super) fn passing(
        mut self,
        mut check: impl FnMut(Option<&str>) -> Result<Protocol, GenerateError>,
    ) -> Result<Passed, GenerateError> {
        let passed = self.reduce(&mut check);
        let overlay = self.text();
        match (passed, overlay) {
            (Ok(checked), overlay) => Ok(Passed {
                checked,
                overlay,
                left_out: self.left_out,
            }),
            // No single entry is the cause: without the overlay, the schema has other problems, or none.
            (Err(error), Some(entry)) if is_about_overlay(&error) => match check(None) {
                Ok(checked) => Ok(Passed {
                    checked,
                    overlay: None,
                    left_out: vec![LeftOut {
                        entry,
                        why: error.to_string(),
                    }],
                }),
                Err(_) => Err(error),
            },
            (Err(error), _) => Err(error),
        }
    }

    /// Leaves out the entries that a check names, until it passes or names no more, and returns its last result.
    pub(super) fn reduce(
        &mut self,
        mut check: impl FnMut(Option<&str>) -> Result<Protocol, GenerateError>,
    ) -> Result<Protocol, GenerateError> {
        loop {
            match check(self.text().as_deref()) {
                Err(GenerateError::Problems(problems)) if self.leave_out(&problems) => {}
                result => return result,
            }
        }
    }

    /// Returns the text of the overlay; `None` if it has no entries.
    pub(super) fn text(&self) -> Option<String> {
        let (predecessor, revision) = (&self.predecessor, &self.revision);
        if !self.entries.lines().any(|line| line.trim_start().starts_with("- ")) {
            return None;
        }
        let mut text = format!(
            "# From the overlay of {predecessor}, without what doesn't fit this schema. Review it: what is said of {predecessor} here may\n\
             # no longer hold; the addresses and the version are those of {revision}.\n\n"
        );
        // The preset of the version that requests declare is the revision itself.
        let is_version = |line: &str| {
            let value = line.trim_start().strip_prefix("to: ").map(str::trim);
            value.is_some_and(|value| value.trim_matches(['"', '\'']) == predecessor)
        };
        let entries = self
            .entries
            .lines()
            .map(|line| match line.contains("https://") || is_version(line) {
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

    /// Leaves out the entries that problems are about. Returns `false` if there are none.
    fn leave_out(&mut self, problems: &Problems) -> bool {
        let Some(text) = self.text() else { return false };
        let Ok(document) = Document::parse(OVERLAY, self.entries.as_bytes(), Format::Yaml) else {
            return false;
        };
        let mut blamed = BTreeMap::new();
        for problem in problems {
            // Facts are inherited without an entry.
            let entries = entries_of(problem, &document).into_iter();
            for entry in entries.filter(|entry| document.get(entry).is_some()) {
                blamed.entry(entry).or_insert_with(|| problem.what.clone());
            }
        }
        let entries = with_entries(&document, blamed.keys().cloned().collect());
        let why = |entry: &String| blamed.range(entry.clone()..).next().map(|(_, why)| why.clone());
        self.left_out.extend(entries.iter().map(|entry| LeftOut {
            entry: cut(&self.entries, &document, [entry]).1.concat(),
            why: why(entry).unwrap_or_default(),
        }));
        self.entries = cut(&self.entries, &document, &with_sections(&document, entries)).0;
        self.text().is_none_or(|after| after != text)
    }
}

/// Returns an overlay in which each entry has its own lines, which are indented: its text, and its document. If the lists
/// of an overlay are written differently, it is serialised, and loses its comments.
fn with_lines(text: String) -> Result<(String, Document), GenerateError> {
    let parse = |text: &str| Document::parse(OVERLAY, text.as_bytes(), Format::Yaml);
    let document = parse(&text)?;
    let sections = document.root().as_object().into_iter().flatten();
    let mut lists = sections.map(|(section, _)| pointer::child("#", section));
    let has_no_lines = |list: String| {
        let Place { line, column } = document.place(&list);
        let start = text.lines().nth(line - 1).and_then(|line| line.chars().nth(column - 1));
        document.get(&list).is_some_and(Value::is_array) && (column == 1 || start == Some('['))
    };
    if !lists.any(has_no_lines) {
        return Ok((text, document));
    }
    let lines = yaml_serde::to_string(document.root())?;
    let indented = lines.lines().map(|line| match line.starts_with(['-', ' ']) {
        true => format!("  {line}\n"),
        false => format!("{line}\n"),
    });
    let text: String = indented.collect();
    let document = parse(&text)?;
    Ok((text, document))
}

/// Whether all problems are in the overlay. A rule that is wrong with it may match something without it.
fn is_about_overlay(error: &GenerateError) -> bool {
    matches!(error, GenerateError::Problems(problems) if problems.iter().all(|problem| problem.file == OVERLAY))
}

/// Returns the entries of an overlay that a problem is about, such as `#/corrections/0`, or the places in them, such as
/// `#/corrections/0/at/2`.
fn entries_of(problem: &Problem, overlay: &Document) -> Vec<String> {
    if problem.file == OVERLAY {
        let tokens: Vec<_> = problem.pointer.split('/').collect();
        return match tokens[..] {
            [_, section, index, "at", place] => vec![format!("#/{section}/{index}/at/{place}")],
            [_, section, index, ..] => vec![format!("#/{section}/{index}")],
            _ => Vec::new(),
        };
    }
    let corrections = overlay.get("#/corrections").and_then(Value::as_array);
    let corrections = corrections.into_iter().flatten().enumerate();
    let of = |(index, correction): (usize, &Value)| {
        let corrects = |at: &Value| at.as_str().is_some_and(|at| concerns(at, &problem.pointer));
        match &correction["at"] {
            Value::Array(places) => {
                let places = places.iter().enumerate().filter(|(_, at)| corrects(at));
                places
                    .map(|(place, _)| format!("#/corrections/{index}/at/{place}"))
                    .collect()
            }
            at if corrects(at) => vec![format!("#/corrections/{index}")],
            _ => Vec::new(),
        }
    };
    corrections.flat_map(of).collect()
}

/// Whether a correction at one pointer concerns the schema at another: the schema is in the corrected value, or the
/// correction annotates it.
fn concerns(at: &str, schema: &str) -> bool {
    let annotation = at.strip_prefix(schema);
    is_within(schema, at) || annotation.is_some_and(|keyword| keyword.starts_with("/x-"))
}

/// Returns these entries, with the section in place of its entries if they include all of them.
fn with_sections(document: &Document, entries: BTreeSet<String>) -> BTreeSet<String> {
    with_whole_lists(document, entries, |entry| {
        entry.split('/').nth(1).map(|section| format!("#/{section}"))
    })
}

/// Returns these entries, with an entry in place of its places if they include all of them.
fn with_entries(document: &Document, places: BTreeSet<String>) -> BTreeSet<String> {
    let whole = with_whole_lists(document, places, |place| {
        place.rsplit_once("/at/").map(|(entry, _)| format!("{entry}/at"))
    });
    whole
        .into_iter()
        .map(|entry| entry.trim_end_matches("/at").to_owned())
        .collect()
}

/// Replaces the elements of a list by the list if they include all of them.
fn with_whole_lists(
    document: &Document,
    mut elements: BTreeSet<String>,
    list_of: impl Fn(&str) -> Option<String>,
) -> BTreeSet<String> {
    let lists: BTreeSet<String> = elements.iter().filter_map(|element| list_of(element)).collect();
    for list in lists {
        let count = document.get(&list).and_then(Value::as_array).map_or(0, Vec::len);
        if (0..count).all(|index| elements.contains(&format!("{list}/{index}"))) {
            elements.retain(|element| !element.starts_with(&format!("{list}/")));
            elements.insert(list);
        }
    }
    elements
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
