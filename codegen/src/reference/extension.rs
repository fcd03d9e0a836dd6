//! What an extension does with the protocol.

use std::fmt::Write as _;

use super::Page;
use crate::model::ModelledExtension;

impl Page<'_> {
    /// How peers declare an extension, and what it adds to messages of the protocol.
    pub(super) fn of_extension(&self, extension: &ModelledExtension) -> String {
        let definition = |name: &str| {
            let definition = self.model.definitions.get(name);
            definition.map_or_else(String::new, |definition| self.reference(&definition.ty))
        };
        let mut section = format!(
            "\n## In the protocol\n\nPeers declare the extension as `{}` in the `extensions` of their capabilities",
            extension.declared.id
        );
        section += &match &extension.settings {
            Some(settings) => format!(", with {} as its settings.\n", definition(settings)),
            None => ".\n".to_owned(),
        };
        if !extension.results.is_empty() {
            section += "\n| Request of the protocol | Result besides | Kind |\n|---|---|---|\n";
        }
        for added in &extension.results {
            let kind = added
                .kind
                .as_ref()
                .map_or_else(|| "–".to_owned(), |kind| format!("`{kind}`"));
            let _ = writeln!(
                section,
                "| `{}` | {} | {kind} |",
                added.method,
                definition(&added.definition)
            );
        }
        if extension.headers().next().is_some() {
            section += "\n| HTTP header | Method | Parameter that it repeats |\n|---|---|---|\n";
        }
        for (header, methods) in extension.headers() {
            for (method, parameter) in methods {
                let _ = writeln!(section, "| `{header}` | `{method}` | `{parameter}` |");
            }
        }
        if !extension.meta.is_empty() {
            section += "\n| Type of the protocol | Key in `_meta` | Value |\n|---|---|---|\n";
        }
        for entry in &extension.meta {
            for of in &entry.of {
                let _ = writeln!(
                    section,
                    "| `{of}` | `{}` | {} |",
                    entry.member,
                    definition(&entry.definition)
                );
            }
        }
        section
    }
}
