//! The reference of a revision, as Markdown in our own words: its methods, error codes and types, and since when each is there.

mod extension;
mod gaps;
mod history;
mod methods;
mod text;
mod types;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::adapt::Plan;
use crate::diff::{Diff, deprecations};
use crate::load::Docs;
use crate::model::{Model, ModelledExtension, ModelledRevision, Type, TypeRef};

pub(crate) use gaps::{Beside, gaps};
use history::History;
use text::{anchor, cell, linked};

/// What the reference of a revision is written from.
#[derive(Clone, Copy)]
pub(crate) struct ReferenceInput<'i> {
    pub(crate) revisions: &'i [ModelledRevision],
    /// The conversions between each two of all revisions.
    pub(crate) plans: &'i [[Plan; 2]],
    /// What changed between each two of them.
    pub(crate) diffs: &'i [Diff],
    pub(crate) crate_name: &'i str,
    pub(crate) docs: &'i Docs,
    /// Where the official specification documents a definition; all of them, for the empty name.
    pub(crate) link: &'i dyn Fn(&str) -> String,
}

/// The reference of the last of the revisions.
pub(crate) fn reference(input: ReferenceInput<'_>) -> String {
    let Some(revision) = input.revisions.last() else {
        return String::new();
    };
    let page = Page {
        crate_name: input.crate_name,
        docs: input.docs,
        link: input.link,
        before: input.diffs.last(),
        model: &revision.model,
        history: History::new(input.revisions, input.plans, input.diffs),
        extension: None,
    };
    page.write()
}

/// The reference of an extension, a level below those of the revisions.
pub(crate) fn extension_reference(
    extension: &ModelledExtension,
    crate_name: &str,
    docs: &Docs,
    link: &dyn Fn(&str) -> String,
) -> String {
    let page = Page {
        crate_name,
        docs,
        link,
        before: None,
        model: &extension.own.model,
        history: History::none(&extension.own.model),
        extension: Some(extension),
    };
    page.write()
}

struct Page<'i> {
    crate_name: &'i str,
    docs: &'i Docs,
    link: &'i dyn Fn(&str) -> String,
    /// What changed since the revision before.
    before: Option<&'i Diff>,
    model: &'i Model,
    history: History<'i>,
    extension: Option<&'i ModelledExtension>,
}

impl Page<'_> {
    fn write(&self) -> String {
        let modules = self.modules();
        let mut page = self.head(modules.keys());
        page += &self.methods();
        match self.extension {
            Some(extension) => page += &self.of_extension(extension),
            None => page += &self.error_codes(),
        }
        page += &deprecations(&self.model.deprecated);
        for (module, types) in &modules {
            let _ = writeln!(page, "\n## {}", title(module));
            let text = self.docs.entry(&format!("mod {module}"), None);
            if let Some((_, text)) = text {
                let _ = writeln!(page, "\n{}", self.linked(text));
            }
            for (name, ty) in types {
                page += &self.ty(name, ty);
            }
        }
        page
    }

    /// The types of each module, by their Rust names.
    fn modules(&self) -> BTreeMap<&str, Vec<(&str, &Type)>> {
        let mut modules = BTreeMap::<&str, Vec<_>>::new();
        for (name, ty) in self.model.own_types() {
            modules.entry(&ty.module).or_default().push((name.as_str(), ty));
        }
        modules
    }

    fn head<'m>(&self, modules: impl Iterator<Item = &'m &'m str>) -> String {
        let (revision, link) = (&self.model.revision, (self.link)(""));
        let (of, what) = match self.extension {
            Some(extension) => (
                format!("`{}`", extension.declared.id),
                format!(
                    "The methods and types of the [extension]({link}), version {revision} for {} of the protocol",
                    extension.declared.of
                ),
            ),
            None => (
                revision.clone(),
                format!("The methods, error codes and types of the [specification]({link})"),
            ),
        };
        let mut head = format!(
            "# Reference of {of}\n\n{what}, with the corrections of its `overlay.yaml`. The types are those of the crate \
             `{}`.\nA member that isn't required may be absent, and that is not \
             the same as `null`. Members that aren't listed are valid unless a type says otherwise.\n",
            self.crate_name
        );
        if let Some(diff) = self.before {
            let _ = writeln!(
                head,
                "[What changed since {}]({}).",
                diff.from,
                text::changes_page(diff)
            );
        }
        let mut sections = vec!["[Methods](#methods)".to_owned()];
        sections.push(match self.extension {
            Some(_) => "[In the protocol](#in-the-protocol)".to_owned(),
            None => "[Error codes](#error-codes)".to_owned(),
        });
        if !self.model.deprecated.is_empty() {
            sections.push("[Deprecated](#deprecated)".to_owned());
        }
        sections.extend(modules.map(|module| format!("[{}](#{module})", title(module))));
        let _ = writeln!(head, "\n{}", sections.join(" · "));
        head
    }

    /// A type, with a link to where this page has it.
    fn reference(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(name) => match self.model.types.get(name) {
                Some(ty) => format!("[`{}`]({})", ty.documented_as, self.address(ty)),
                None => format!("`{name}`"),
            },
            TypeRef::RequestId => "string or integer".into(),
            TypeRef::String => "string".into(),
            TypeRef::Boolean => "boolean".into(),
            TypeRef::Integer => "integer".into(),
            TypeRef::Number => "number".into(),
            TypeRef::Null => "`null`".into(),
            TypeRef::Any => "any JSON".into(),
            TypeRef::RawObject => "object".into(),
            TypeRef::List(inner) => format!("list of {}", self.reference(inner)),
            TypeRef::Map(inner) => format!("map of {}", self.reference(inner)),
            TypeRef::Nullable(inner) => format!("{} or `null`", self.reference(inner)),
        }
    }

    /// What documents a member or a value, for a cell of a table.
    fn meaning(&self, ty: &Type, member: &str) -> String {
        let text = self.docs.entry(&ty.documented_as, Some(member));
        let text = text.map_or_else(String::new, |(_, text)| cell(&self.linked(text)));
        match self.model.deprecation_of_member(ty, member) {
            Some(_) => format!("[Deprecated](#deprecated). {text}"),
            None => text,
        }
    }

    fn linked(&self, text: &str) -> String {
        linked(text, |name| {
            let ty = self.model.types.get(name)?;
            Some(self.address(ty))
        })
    }

    /// Where a type is described: here, or on the page of the revision that the extension extends.
    fn address(&self, ty: &Type) -> String {
        let anchor = anchor(&ty.documented_as);
        match self.extension.filter(|_| ty.imported) {
            Some(extension) => format!("../{}.md#{anchor}", extension.declared.of),
            None => format!("#{anchor}"),
        }
    }
}

/// The heading of a module.
fn title(module: &str) -> String {
    let mut letters = module.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
