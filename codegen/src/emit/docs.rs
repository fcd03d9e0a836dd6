//! Documentation in our own words, which also covers what a revision renames, and links to the specification.

use std::borrow::Cow;
use std::sync::Arc;

use super::Emitter;
use super::names::link_to_type;
use super::source::filled;
use crate::adapt::Plan;
use crate::diff::Pair;
use crate::load::Docs;
use crate::markdown::linked;
use crate::model::{ModelledRevision, Type, TypeRef};
use crate::overlay::Deprecation;
use crate::protocol::Protocol;

/// Maximum number of characters in a line of documentation.
const WIDTH: usize = 108;

/// Returns the documentation of each revision and extension: its own entries, then those of all revisions, then those
/// that the previous revision has for renamed types and members.
pub(super) fn docs_of_all(protocol: &Protocol) -> impl Iterator<Item = Arc<Docs>> {
    let mut before = None::<Arc<Docs>>;
    protocol.all().enumerate().map(move |(index, later)| {
        let mut docs = protocol.docs.with(&later.docs);
        if let (Some((earlier, [up, _])), Some(earlier_docs)) = (protocol.before(index), &before) {
            follow(&mut docs, earlier_docs, (earlier, later, up));
        }
        let docs = Arc::new(docs);
        before = Some(Arc::clone(&docs));
        docs
    })
}

/// Adds to the documentation of the later revision the earlier one's entries for renamed types and members.
fn follow(docs: &mut Docs, earlier_docs: &Docs, (earlier, later, up): (&ModelledRevision, &ModelledRevision, &Plan)) {
    for (after, before) in Pair::new(&earlier.model, &later.model, up).earlier_names() {
        let types = earlier.model.types.get(before).zip(later.model.types.get(after));
        let Some((old, new)) = types.map(|(old, new)| (&old.documented_as, &new.documented_as)) else {
            continue;
        };
        if old != new {
            docs.add_renamed(earlier_docs, old, new);
        }
        let types = (TypeRef::Named(before.to_owned()), TypeRef::Named(after.to_owned()));
        let row = up
            .conversions
            .get(&types)
            .and_then(|conversion| conversion.row.as_ref());
        let members = row.and_then(|(_, row)| row["members"].as_object());
        for (member, row) in members.into_iter().flatten() {
            if let Some(source) = row["from"].as_str() {
                docs.add_renamed_member(earlier_docs, (old, source), (new, member));
            }
        }
    }
}

impl Emitter<'_> {
    /// The documentation of a type, with a link to its definition, and the attribute of its deprecation.
    pub(super) fn docs(&self, ty: &Type) -> String {
        let text = self.text_of(&ty.documented_as, None, ty.description.as_deref());
        let text = self.linked(&text, &ty.module);
        let link = self.input.link_at(&ty.pointer);
        let text = match link.as_str() {
            "" => text,
            link => format!("{text}\n\n[Specification]({link})"),
        };
        documented("", &text, self.input.model().deprecation(&ty.pointer))
    }

    /// The sentence that documents a module.
    pub(super) fn docs_of_module(&self, module: &str) -> String {
        let key = format!("mod {module}");
        match self.entry(&key, None) {
            Some(text) => text.to_owned(),
            None => {
                self.undocumented.borrow_mut().insert(key);
                format!("Types of `{module}`.")
            }
        }
    }

    /// The documentation of a member, or of a value of an enumeration, and the attribute of its deprecation.
    pub(super) fn docs_of_member(&self, ty: &Type, member: &str, description: Option<&str>) -> String {
        let text = self.text_of(&ty.documented_as, Some(member), description);
        let text = self.linked(&text, &ty.module);
        documented("    ", &text, self.input.model().deprecation_of_member(ty, member))
    }

    /// Returns the text with links where it names types of the revision.
    fn linked(&self, text: &str, module: &str) -> String {
        linked(text, |name| {
            let ty = self.input.model().types.get(name)?;
            let is_here = ty.module == module && !ty.imported;
            let path = || format!("[`{name}`]({})", self.input.path_of(name, ty));
            Some(if is_here { link_to_type(name) } else { path() })
        })
    }

    fn text_of(&self, key: &str, member: Option<&str>, description: Option<&str>) -> String {
        if let Some(text) = self.entry(key, member).or(description) {
            return text.to_owned();
        }
        let key = member.map_or_else(|| key.to_owned(), |member| format!("{key}.{member}"));
        let text = format!("`{}` of the revision's schema.", key.replace('`', "'"));
        self.undocumented.borrow_mut().insert(key);
        text
    }

    /// Returns the text of an entry, and records that it was used.
    fn entry(&self, key: &str, member: Option<&str>) -> Option<&str> {
        let (key, text) = self.input.docs.entry(key, member)?;
        self.documented.borrow_mut().insert(key);
        Some(text)
    }
}

fn documented(indent: &str, text: &str, deprecation: Option<&Deprecation>) -> String {
    let deprecated = deprecation.map(|entry| format!("{indent}#[deprecated = {:?}]\n", entry.note()));
    comment(indent, text) + &deprecated.unwrap_or_default()
}

/// Returns a documentation comment, each line of which starts with `indent`.
pub(crate) fn comment(indent: &str, text: &str) -> String {
    let line = |line: String| format!("{indent}{}\n", format!("/// {line}").trim_end());
    wrapped(text).into_iter().map(line).collect()
}

/// Returns the lines of a text, with long lines broken between words. Characters that change the direction of text are
/// escaped, because rustc refuses them in comments.
pub(crate) fn wrapped(text: &str) -> Vec<String> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut text = Cow::Borrowed(text.trim());
    while let Some(c) = text.chars().find(|c| turns(*c)) {
        text = text.replace(c, &c.escape_unicode().to_string()).into();
    }
    let paragraphs = text.lines();
    paragraphs
        .flat_map(|paragraph| filled(WIDTH, paragraph.split_whitespace()))
        .collect()
}
