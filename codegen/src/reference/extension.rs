//! What an extension does with the protocol.

use super::Page;
use crate::load::Extends;
use crate::markdown::table;

impl Page<'_> {
    /// How peers declare an extension, and what it adds to messages of the protocol.
    pub(super) fn of_extension(&self, extension: &Extends) -> String {
        let overlay = &self.revision.overlay;
        let definition = |name: &str| {
            let definition = self.model.definitions.get(name);
            definition.map_or_else(String::new, |definition| self.reference(&definition.ty))
        };
        let mut section = format!(
            "\n## In the protocol\n\nPeers declare the extension as `{}` in the `extensions` of their capabilities",
            extension.declared.id
        );
        section += &match &overlay.settings {
            Some(settings) => format!(", with {} as its settings.\n", definition(settings)),
            None => ".\n".to_owned(),
        };
        let results = self.revision.results.iter().map(|added| {
            let kind = added.kind.as_ref().map(|kind| format!("`{kind}`"));
            let kind = kind.unwrap_or_else(|| "–".to_owned());
            [format!("`{}`", added.method), definition(&added.definition), kind]
        });
        section += &table(["Request of the protocol", "Result besides", "Kind"], results);
        let headers = self.revision.headers().flat_map(|(header, methods)| {
            let methods = methods.iter();
            methods.map(move |(method, parameter)| [header, method, parameter].map(|name| format!("`{name}`")))
        });
        section += &table(["HTTP header", "Method", "Parameter that it repeats"], headers);
        let meta = overlay.meta.iter().flat_map(|entry| {
            let (member, value) = (format!("`{}`", entry.member), definition(&entry.definition));
            let of = entry.of.iter();
            of.map(move |of| [format!("`{of}`"), member.clone(), value.clone()])
        });
        section + &table(["Type of the protocol", "Key in `_meta`", "Value"], meta)
    }
}
