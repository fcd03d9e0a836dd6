//! Validators of single definitions of a schema, which are compiled when they are first needed.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use mcp_json_schema::{DEFINITIONS, Validator, pointer, walk};
use serde_json::{Map, Value};

use crate::reader::Reader;

/// The maximum number of pointers with a separate validator. A program that needs more of them needs most of the
/// schema.
const MAX_PARTS: usize = 8;

/// Keywords by which a reference can refer to something else than a definition by its pointer.
const IDENTIFIERS: [&str; 5] = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

/// The validators of definitions, by the pointers that they were requested for.
pub(crate) struct Parts {
    /// The texts of a document's definitions, if it has no other keywords.
    definitions: OnceLock<Option<Definitions>>,
    validators: RwLock<Vec<(String, Option<Arc<Validator>>)>>,
}

/// The definitions of a document.
struct Definitions {
    /// The keyword of the definitions, such as `$defs`.
    keyword: &'static str,
    /// The other members of the document, such as the dialect.
    around: Map<String, Value>,
    texts: Vec<(String, &'static str)>,
}

impl Parts {
    pub(crate) const fn new() -> Self {
        Self {
            definitions: OnceLock::new(),
            validators: RwLock::new(Vec::new()),
        }
    }

    /// Returns a validator of the definition that a pointer leads to or into, and of those that it refers to. `None` if
    /// the validator of the whole document is needed.
    pub(crate) fn validator(&self, document: &'static str, at: &str) -> Option<Arc<Validator>> {
        let known = |validators: &[(String, Option<Arc<Validator>>)]| {
            let (_, validator) = validators.iter().find(|(pointer, _)| pointer == at)?;
            Some(validator.clone())
        };
        if let Some(validator) = known(&self.validators.read().unwrap_or_else(PoisonError::into_inner)) {
            return validator;
        }
        let mut validators = self.validators.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have compiled it meanwhile.
        if let Some(validator) = known(&validators) {
            return validator;
        }
        if validators.len() == MAX_PARTS {
            return None;
        }
        let mut others = validators.iter().filter_map(|(_, validator)| validator.as_ref());
        let other = others.find(|validator| validator.has(at)).cloned();
        let validator = other.or_else(|| {
            let definitions = self.definitions.get_or_init(|| Definitions::of(document));
            let part = definitions.as_ref()?.with(at)?;
            let validator = Validator::new(&part).ok()?;
            validator.has(at).then(|| Arc::new(validator))
        });
        validators.push((at.to_owned(), validator.clone()));
        validator
    }
}

impl Definitions {
    /// Reads the definitions of a document. `None` if the document isn't JSON, or has keywords that apply to values.
    fn of(document: &'static str) -> Option<Self> {
        let (mut around, mut found) = (Map::new(), None);
        Reader::new(document)
            .members(|reader, name| {
                let value = reader.raw()?;
                match DEFINITIONS.iter().find(|keyword| **keyword == name) {
                    Some(keyword) => found = Some((*keyword, value)),
                    None => drop(around.insert(name.into_owned(), serde_json::from_str(value).unwrap_or_default())),
                }
                Ok(())
            })
            .ok()?;
        let applies = |keyword: &String| keyword != "$schema" && keyword != "$comment";
        let (keyword, definitions) = found.filter(|_| !around.keys().any(applies))?;
        let mut texts = Vec::new();
        Reader::new(definitions)
            .members(|reader, name| {
                let text = reader.raw()?;
                texts.push((name.into_owned(), text));
                Ok(())
            })
            .ok()?;
        Some(Self { keyword, around, texts })
    }

    /// Returns a document with the definition that a pointer leads to or into, and with those that it refers to,
    /// directly or indirectly.
    fn with(&self, at: &str) -> Option<Value> {
        let mut wanted = vec![self.name(at)?];
        let mut part = Map::new();
        while let Some(name) = wanted.pop() {
            if part.contains_key(&name) {
                continue;
            }
            let (_, text) = self.texts.iter().find(|(known, _)| *known == name)?;
            let definition: Value = serde_json::from_str(text).ok()?;
            let mut leads_elsewhere = false;
            walk(&definition, |_, schema| {
                leads_elsewhere |= IDENTIFIERS.iter().any(|keyword| schema.get(keyword).is_some());
                if let Some(reference) = schema.get("$ref") {
                    let name = reference.as_str().and_then(|reference| self.name(reference));
                    leads_elsewhere |= name.is_none();
                    wanted.extend(name);
                }
            });
            if leads_elsewhere {
                return None;
            }
            part.insert(name, definition);
        }
        let mut document = self.around.clone();
        document.insert(self.keyword.to_owned(), Value::Object(part));
        Some(Value::Object(document))
    }

    /// Returns the name of the definition that a pointer leads to or into.
    fn name(&self, at: &str) -> Option<String> {
        match pointer::tokens(&pointer::canonical(at)?)?.as_slice() {
            [keyword, name, ..] if keyword == self.keyword => Some(name.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::validate::is_valid;

    fn parts(document: &Value) -> (Parts, &'static str) {
        (Parts::new(), document.to_string().leak())
    }

    #[test]
    fn a_definition_is_compiled_only_with_those_it_refers_to() {
        let (parts, document) = parts(&json!({"$defs": {
            "a": {"properties": {"b": {"$ref": "#/$defs/b"}}},
            "b": {"items": {"$ref": "#/$defs/b"}, "type": "array"},
            "inside": {"$ref": "#/$defs/a/properties/b"},
            "invalid": {"type": "nothing"},
        }}));
        let validator = parts.validator(document, "#/$defs/a").unwrap();
        assert!(validator.has("#/$defs/b") && !validator.has("#/$defs/invalid"));
        assert!(is_valid(r#"{"b": [[]]}"#, "#/$defs/a", &validator));
        assert!(!is_valid(r#"{"b": [[1]]}"#, "#/$defs/a", &validator));
        let inside = parts.validator(document, "#/$defs/inside").unwrap();
        assert!(inside.has("#/$defs/a") && !inside.has("#/$defs/invalid"));
        assert!(is_valid("[[]]", "#/$defs/inside", &inside) && !is_valid("[[1]]", "#/$defs/inside", &inside));
    }

    #[test]
    fn a_schema_inside_a_definition_shares_the_validator_of_the_definition() {
        let (parts, document) = parts(&json!({"$defs": {"a": {"properties": {"b": {"type": "string"}}}}}));
        let member = parts.validator(document, "#/$defs/a/properties/b").unwrap();
        assert!(
            is_valid("\"\"", "#/$defs/a/properties/b", &member) && !is_valid("1", "#/$defs/a/properties/b", &member)
        );
        assert!(Arc::ptr_eq(&member, &parts.validator(document, "#/$defs/a").unwrap()));
    }

    #[test]
    fn definitions_that_need_the_whole_document_have_no_separate_validator() {
        let definitions = json!({
            "anchor": {"$anchor": "here"},
            "elsewhere": {"$ref": "#here"},
            "inside": {"$ref": "#/$defs/plain/properties/b"},
            "missing": {"$ref": "#/$defs/none"},
            "plain": {"properties": {"a": true}},
            "whole": {"$ref": "#"},
        });
        let (with_definitions, document) = parts(&json!({"$defs": definitions}));
        for name in [
            "anchor",
            "elsewhere",
            "inside",
            "missing",
            "whole",
            "none",
            "plain/properties/b",
        ] {
            let pointer = format!("#/$defs/{name}");
            assert!(with_definitions.validator(document, &pointer).is_none(), "{name}");
        }
        assert!(with_definitions.validator(document, "#/$defs/plain").is_some());
        let (with_more, document) = parts(&json!({"$defs": {"plain": {}}, "type": "object"}));
        assert!(with_more.validator(document, "#/$defs/plain").is_none());
    }
}
