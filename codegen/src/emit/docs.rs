//! Rustdoc: our own words, and where the specification says it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::EmitInput;
use crate::load::Document;
use crate::model::{Model, Type};
use crate::problem::Problem;

/// How many characters a line of documentation may have.
const WIDTH: usize = 108;

/// Documentation by `Type`, `Type.member` and `*.member`.
#[derive(Debug, Clone, Default)]
pub struct Docs {
    entries: BTreeMap<String, String>,
}

impl Docs {
    /// Decodes documentation from its document.
    ///
    /// # Errors
    /// The document has another shape.
    pub fn of(document: &Document) -> Result<Self, Problem> {
        Ok(Self::new(document.decode_all()?))
    }

    /// Documentation with these entries.
    #[must_use]
    pub fn new(entries: BTreeMap<String, String>) -> Self {
        Self { entries }
    }
}

/// Writes documentation, and notes what there is none for.
pub struct Documenter<'i> {
    docs: &'i Docs,
    model: &'i Model,
    link: &'i dyn Fn(&str) -> String,
    undocumented: RefCell<BTreeSet<String>>,
}

impl<'i> Documenter<'i> {
    /// Documents one revision.
    pub fn new(input: &EmitInput<'i>) -> Self {
        Self {
            docs: input.docs,
            model: input.model,
            link: input.link,
            undocumented: RefCell::default(),
        }
    }

    /// What was asked for and isn't there.
    pub fn undocumented(&self) -> BTreeSet<String> {
        self.undocumented.borrow().clone()
    }

    /// The documentation of a type, with a link to its definition.
    pub fn ty(&self, ty: &Type) -> TokenStream {
        let text = self.text(&ty.documented_as, None, ty.description.as_deref());
        let text = self.linked(&text, &ty.module);
        let link = self.link(&ty.pointer);
        lines(&format!("{text}\n\n[Specification]({link})"))
    }

    /// The sentence that documents a module.
    pub fn module(&self, module: &str) -> String {
        match self.docs.entries.get(&format!("mod {module}")) {
            Some(text) => text.clone(),
            None => {
                self.undocumented.borrow_mut().insert(format!("mod {module}"));
                format!("Types of `{module}`.")
            }
        }
    }

    /// The documentation of a member, or of a value of an enumeration.
    pub fn member(&self, ty: &Type, member: &str, description: Option<&str>) -> TokenStream {
        let key = format!("{}.{member}", ty.documented_as);
        let text = self.text(&key, Some(member), description);
        lines(&self.linked(&text, &ty.module))
    }

    /// The text with links where it names types of the revision.
    fn linked(&self, text: &str, module: &str) -> String {
        let code = |(index, part): (usize, &str)| match self.model.types.get(part) {
            Some(ty) if index % 2 == 1 && ty.module == module => format!("[`{part}`]"),
            Some(_) if index % 2 == 1 => format!("[`{part}`](crate::{part})"),
            _ if index % 2 == 1 => format!("`{part}`"),
            _ => part.to_owned(),
        };
        text.split('`').enumerate().map(code).collect()
    }

    fn text(&self, key: &str, member: Option<&str>, description: Option<&str>) -> String {
        let entries = &self.docs.entries;
        let shared = || member.and_then(|member| entries.get(&format!("*.{member}")));
        if let Some(text) = entries.get(key).or_else(shared) {
            return text.clone();
        }
        if let Some(description) = description {
            return description.to_owned();
        }
        self.undocumented.borrow_mut().insert(key.to_owned());
        format!("`{}` of the revision's schema.", key.replace('`', "'"))
    }

    /// Where the specification documents the definition that a pointer lies in.
    fn link(&self, pointer: &str) -> String {
        let name = pointer.split('/').nth(2).unwrap_or_default();
        (self.link)(name)
    }
}

/// Documentation attributes, one a line.
pub fn lines(text: &str) -> TokenStream {
    let lines = wrapped(text).into_iter().map(|line| {
        if line.is_empty() {
            String::new()
        } else {
            format!(" {line}")
        }
    });
    quote!(#(#[doc = #lines])*)
}

/// A documentation comment.
pub fn comment(text: &str) -> String {
    let line = |line: String| format!("{}\n", format!("/// {line}").trim_end());
    wrapped(text).into_iter().map(line).collect()
}

/// The lines of a text, each cut between words where it is too long.
pub fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}
