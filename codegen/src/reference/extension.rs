//! The section about an extension.

use serde_json::{Value, json};

use super::Page;
use crate::load::Extends;

impl Page<'_> {
    /// Describes how peers declare an extension, and what it adds to messages of the protocol.
    pub(super) fn of_extension(&self, extension: &Extends) -> Value {
        let overlay = &self.revision.overlay;
        let definition = |name: &String| {
            let definition = self.model.definitions.get(name)?;
            Some(self.reference(&definition.ty))
        };
        let results = self.revision.results.iter().map(|added| {
            let kind = added.kind.as_ref().map(|kind| format!("`{kind}`"));
            let kind = kind.unwrap_or_else(|| "–".to_owned());
            json!({"method": added.method, "result": definition(&added.definition), "kind": kind})
        });
        let headers = self.revision.headers().flat_map(|(header, methods)| {
            let methods = methods.iter();
            methods.map(move |(method, parameter)| json!({"header": header, "method": method, "parameter": parameter}))
        });
        let meta = overlay.meta.iter().flat_map(|entry| {
            let value = definition(&entry.definition);
            let of = entry.of.iter();
            of.map(move |of| json!({"of": of, "member": entry.member, "value": value}))
        });
        json!({
            "id": extension.declared.id,
            "settings": overlay.settings.as_ref().and_then(definition),
            "results": Vec::from_iter(results),
            "headers": Vec::from_iter(headers),
            "meta": Vec::from_iter(meta),
        })
    }
}
