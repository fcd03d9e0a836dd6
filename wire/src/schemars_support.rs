//! `schemars::JsonSchema` for generated types: the definitions are copied from the revision's schema into the caller's
//! document.

use std::borrow::Cow;

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

use mcp_json_schema::{Applicator, Dialect, pointer};

/// Returns the name of the definition at `pointer`: its last part.
#[must_use]
pub fn name(pointer: &str) -> Cow<'static, str> {
    Cow::Owned(crate::definition_name(pointer).to_owned())
}

/// Returns an identifier of the definition, which differs between revisions.
#[must_use]
pub fn id(revision: &str, pointer: &str) -> Cow<'static, str> {
    Cow::Owned(format!("mcp {revision} {pointer}"))
}

/// Returns the schema at `pointer` of a revision's schema. The definitions that it refers to are added to the
/// generator's.
#[must_use]
pub fn schema(generator: &mut SchemaGenerator, revision: &str, document: &str, pointer: &str) -> Schema {
    let document: Value = serde_json::from_str(document).unwrap_or(Value::Bool(true));
    let mut import = Import {
        generator,
        revision,
        document: &document,
        draft_07: Dialect::of(&document) == Ok(Dialect::Draft07),
    };
    let found = pointer::resolve(&document, pointer);
    let imported = import.schema(found.unwrap_or(&Value::Bool(true)));
    Schema::try_from(imported).unwrap_or_default()
}

struct Import<'i> {
    generator: &'i mut SchemaGenerator,
    revision: &'i str,
    document: &'i Value,
    /// Whether the dialect is draft-07, in which the keywords next to a reference are ignored.
    draft_07: bool,
}

impl Import<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(keywords) = schema else {
            return schema.clone();
        };
        let mut imported = Map::new();
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    imported.insert("$ref".to_owned(), self.reference(reference).into());
                }
                ("$defs" | "definitions" | "$schema" | "$comment", _) => {}
                _ if self.draft_07 && keywords.contains_key("$ref") => {}
                // Draft-07's name for the schemas of an array's first elements.
                ("items", Value::Array(_)) => {
                    imported.insert("prefixItems".to_owned(), self.keyword(keyword, value));
                }
                ("additionalItems", _) => {
                    if keywords.get("items").is_some_and(Value::is_array) {
                        imported.insert("items".to_owned(), self.schema(value));
                    }
                }
                _ => {
                    imported.insert(keyword.clone(), self.keyword(keyword, value));
                }
            }
        }
        Value::Object(imported)
    }

    fn keyword(&mut self, keyword: &str, value: &Value) -> Value {
        match (Applicator::of(keyword), value) {
            (Some(Applicator::Map | Applicator::MapOrNames), Value::Object(schemas)) => {
                let schemas = schemas.iter().map(|(name, schema)| (name.clone(), self.schema(schema)));
                Value::Object(schemas.collect())
            }
            (Some(Applicator::List | Applicator::OneOrList), Value::Array(schemas)) => {
                schemas.iter().map(|schema| self.schema(schema)).collect()
            }
            (Some(Applicator::One | Applicator::OneOrList), schema) => self.schema(schema),
            _ => value.clone(),
        }
    }

    /// Converts a reference in the revision's schema to a reference in the caller's document.
    fn reference(&mut self, reference: &str) -> String {
        let path: Vec<&str> = reference
            .split('/')
            .filter(|part| !matches!(*part, "#" | "$defs" | "definitions"))
            .collect();
        let name = format!("{}-{}", path.join("."), self.revision);
        if !self.generator.definitions().contains_key(&name) {
            // Inserted before it is imported, because it can refer to itself.
            self.generator.definitions_mut().insert(name.clone(), Value::Bool(true));
            let target = pointer::resolve(self.document, reference);
            let imported = self.schema(target.unwrap_or(&Value::Bool(true)));
            self.generator.definitions_mut().insert(name.clone(), imported);
        }
        let path = self.generator.settings().definitions_path.clone();
        format!("#{}/{}", path.trim_end_matches('/'), name)
    }
}
