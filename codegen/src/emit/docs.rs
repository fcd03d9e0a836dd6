//! Rustdoc: our own words, and where the specification says it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use quote::quote;

use super::EmitInput;
use crate::model::Type;

/// Documentation by `Type`, `Type.member` and `*.member`.
#[derive(Debug, Clone, Default)]
pub struct Docs {
    entries: BTreeMap<String, String>,
}

impl Docs {
    /// Documentation with these entries.
    #[must_use]
    pub fn new(entries: BTreeMap<String, String>) -> Self {
        Self { entries }
    }
}

/// Writes documentation, and notes what there is none for.
pub struct Documenter<'i> {
    docs: &'i Docs,
    link: &'i dyn Fn(&str) -> String,
    undocumented: RefCell<BTreeSet<String>>,
}

impl<'i> Documenter<'i> {
    /// Documents one revision.
    pub fn new(input: &EmitInput<'i>) -> Self {
        Self {
            docs: input.docs,
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
        let link = self.link(&ty.pointer);
        lines(&format!("{text}\n\n[Specification]({link})"))
    }

    /// The documentation of a member, or of a value of an enumeration.
    pub fn member(&self, ty: &Type, member: &str, description: Option<&str>) -> TokenStream {
        let key = format!("{}.{member}", ty.documented_as);
        lines(&self.text(&key, Some(member), description))
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
    let lines = text.trim().lines().map(|line| {
        let line = line.trim_end();
        if line.is_empty() {
            String::new()
        } else {
            format!(" {line}")
        }
    });
    quote!(#(#[doc = #lines])*)
}
