//! The reference of a revision, as Markdown in our own words: its methods, error codes and types, and which revision
//! introduced each.

mod gaps;
mod history;
mod methods;
mod types;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::diff::{Diff, describe_type};
use crate::emit::{EmitInput, describe_extension};
use crate::error::EmitError;
use crate::markdown::{anchor, capitalised, linked};
use crate::model::{MessageKind, Model, Type, TypeRef};
use crate::protocol::Protocol;
use crate::templates::render;

pub(crate) use gaps::gaps;
use history::{History, changes_page};

/// Writes the reference of the revision or extension at this position. `diffs` are the changes between adjacent
/// revisions.
pub(crate) fn reference(
    protocol: &Protocol,
    (index, input): (usize, &EmitInput<'_>),
    diffs: &[Diff],
) -> Result<String, EmitError> {
    let history = match index.checked_sub(protocol.revisions.len()) {
        Some(extension) => History::new(&protocol.extensions[extension..=extension], &[], &[]),
        None => History::new(&protocol.revisions[..=index], &protocol.plans, &diffs[..index]),
    };
    let model = input.model();
    Page { input, model, history }.write()
}

struct Page<'i> {
    input: &'i EmitInput<'i>,
    model: &'i Model,
    history: History<'i>,
}

impl Page<'_> {
    fn write(&self) -> Result<String, EmitError> {
        let before = self.history.diffs.last();
        let definition = |name: &String| json!(self.model.definitions.get(name).map(|it| self.reference(&it.ty)));
        let extension = self.input.extension();
        let extension = extension.map(|extension| describe_extension(self.input.revision, extension, definition));
        let values = json!({
            "revision": self.model.revision,
            "link": self.input.link(""),
            "crate_name": self.input.crate_name(),
            "before": before.map(|diff| json!({"from": diff.from, "page": changes_page(diff)})),
            "requests": self.methods(MessageKind::Request),
            "notifications": self.methods(MessageKind::Notification),
            "extension": extension,
            "error_codes": self.error_codes(),
            "deprecated": self.model.deprecated,
            "modules": self.modules(),
        });
        render("documents/reference.md", values)
    }

    /// Returns the types of each module, by their Rust names.
    fn modules(&self) -> Vec<Value> {
        let mut modules = BTreeMap::<&str, Vec<Value>>::new();
        for (name, ty) in self.model.own_types() {
            modules.entry(&ty.module).or_default().push(self.ty(name, ty));
        }
        let modules = modules.into_iter().map(|(module, types)| {
            let about = self.input.docs.entry(&format!("mod {module}"), None);
            let about = about.map(|(_, text)| self.linked(text));
            json!({"name": module, "title": capitalised(module), "about": about, "types": types})
        });
        modules.collect()
    }

    /// Describes a type, with a link to its section.
    fn reference(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(name) => match self.model.types.get(name) {
                Some(ty) => format!("[`{}`]({})", ty.documented_as, self.address(ty)),
                None => format!("`{name}`"),
            },
            TypeRef::RequestId => "string or integer".into(),
            TypeRef::Null => "`null`".into(),
            TypeRef::List(inner) => format!("list of {}", self.reference(inner)),
            TypeRef::Map(inner) => format!("map of {}", self.reference(inner)),
            TypeRef::Nullable(inner) => format!("{} or `null`", self.reference(inner)),
            other => describe_type(self.model, other),
        }
    }

    /// Returns the documentation of a member or a value.
    fn meaning(&self, ty: &Type, member: &str) -> String {
        let text = self.input.docs.entry(&ty.documented_as, Some(member));
        let text = text.map_or_else(String::new, |(_, text)| self.linked(text));
        match self.model.deprecation_of_member(ty, member) {
            Some(_) => format!("[Deprecated](#deprecated). {text}"),
            None => text,
        }
    }

    fn linked(&self, text: &str) -> String {
        linked(text, |name| {
            let ty = self.model.types.get(name)?;
            Some(format!("[`{name}`]({})", self.address(ty)))
        })
    }

    /// Returns the address of a type's section: on this page, or on that of the revision that the extension extends.
    fn address(&self, ty: &Type) -> String {
        let anchor = anchor(&ty.documented_as);
        match self.input.extension().filter(|_| ty.imported) {
            Some(extension) => format!("../{}.md#{anchor}", extension.of),
            None => format!("#{anchor}"),
        }
    }
}
