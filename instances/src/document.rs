//! The schema document: references, dialect, patterns, and the minimum depth of instances.

use std::collections::HashMap;

use jsonschema::{Draft, Validator};
use mcp_json_schema::{pointer, walk};
use serde_json::{Map, Value, json};

use crate::error::Error;

/// The height of a schema without finite instances.
const ENDLESS: u32 = u32::MAX;

/// A schema document whose references are known to resolve.
pub(crate) struct Document {
    root: Value,
    draft: Draft,
    patterns: HashMap<String, Validator>,
    heights: HashMap<String, u32>,
    longest: usize,
}

impl Document {
    pub(crate) fn new(root: &Value) -> Result<Self, Error> {
        let mut root = root.clone();
        if let Some(root) = root.as_object_mut() {
            // All references are local. With `$id`, the validator would resolve them against that address.
            root.remove("$id");
        }
        let draft = Draft::default().detect(&root);
        let mut references = Vec::new();
        let mut patterns = HashMap::new();
        walk(&root, |_, schema| {
            let Some(schema) = schema.as_object() else {
                return;
            };
            references.extend(reference(schema).map(str::to_owned));
            for pattern in patterns_of(schema) {
                if let Ok(validator) = jsonschema::options().build(&json!({ "pattern": pattern })) {
                    patterns.insert(pattern.to_owned(), validator);
                }
            }
        });
        let mut document = Self {
            longest: longest(&root),
            root,
            draft,
            patterns,
            heights: HashMap::new(),
        };
        if let Some(reference) = references
            .iter()
            .find(|reference| document.resolve(reference).is_none())
        {
            return Err(Error::Reference {
                reference: reference.clone(),
            });
        }
        document.measure(&references);
        Ok(document)
    }

    pub(crate) fn root(&self) -> &Value {
        &self.root
    }

    /// Returns the largest `maxItems` or `maxLength`.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }

    pub(crate) fn draft(&self) -> Draft {
        self.draft
    }

    /// Returns the target of a local reference.
    pub(crate) fn resolve(&self, reference: &str) -> Option<&Value> {
        pointer::resolve(&self.root, &pointer::canonical(reference)?)
    }

    /// Whether keywords next to a `$ref` apply, as they do since 2019-09.
    pub(crate) fn allows_ref_siblings(&self) -> bool {
        !matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
    }

    /// Whether a pattern of this document matches a text. A pattern that the validator can't compile matches nothing.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> bool {
        self.patterns
            .get(pattern)
            .is_some_and(|validator| validator.is_valid(&json!(text)))
    }

    /// Returns the minimum number of levels of a schema's instances, by which the generator finds the end of a
    /// recursion.
    pub(crate) fn height(&self, schema: &Value) -> u32 {
        let Value::Object(schema) = schema else {
            return if schema == &Value::Bool(false) { ENDLESS } else { 0 };
        };
        let referred = schema.get("$ref").and_then(Value::as_str);
        let referred = referred.map_or(0, |reference| self.heights.get(reference).copied().unwrap_or(ENDLESS));
        if schema.contains_key("const") || schema.contains_key("enum") {
            return referred;
        }
        let all = list(schema, "allOf").iter().map(|branch| self.height(branch)).max();
        let any = list(schema, "anyOf").iter().map(|branch| self.height(branch)).min();
        let one = list(schema, "oneOf").iter().map(|branch| self.height(branch)).min();
        let unions = [all, any, one].into_iter().flatten().max().unwrap_or(0);
        referred
            .max(unions)
            .max(self.height_of_members(schema))
            .max(self.height_of_items(schema))
    }

    fn height_of_members(&self, schema: &Map<String, Value>) -> u32 {
        if !is_only(schema, "object") {
            return 0;
        }
        let required = list(schema, "required").iter().filter_map(Value::as_str);
        let members = required.filter_map(|name| schema.get("properties")?.get(name));
        members
            .map(|member| self.height(member).saturating_add(1))
            .max()
            .unwrap_or(0)
    }

    fn height_of_items(&self, schema: &Map<String, Value>) -> u32 {
        let needed = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        match schema.get("items") {
            Some(items) if needed > 0 && is_only(schema, "array") => self.height(items).saturating_add(1),
            _ => 0,
        }
    }

    /// Computes the heights of the targets of all references. They start as endless, and each pass propagates known
    /// heights by one reference.
    fn measure(&mut self, references: &[String]) {
        loop {
            let mut changed = false;
            for reference in references {
                let height = self.resolve(reference).map_or(ENDLESS, |schema| self.height(schema));
                changed |= self.heights.insert(reference.clone(), height) != Some(height) && height != ENDLESS;
            }
            if !changed {
                return;
            }
        }
    }
}

/// Returns the array under a keyword, or an empty one.
pub(crate) fn list<'a>(schema: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_only(schema: &Map<String, Value>, name: &str) -> bool {
    schema.get("type").is_none_or(|types| types == name)
}

fn reference(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

fn patterns_of(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let keyed = schema.get("patternProperties").and_then(Value::as_object);
    let keys = keyed.into_iter().flat_map(Map::keys).map(String::as_str);
    schema.get("pattern").and_then(Value::as_str).into_iter().chain(keys)
}

/// Returns the largest `maxItems` or `maxLength` in a schema.
fn longest(schema: &Value) -> usize {
    match schema {
        Value::Array(schemas) => schemas.iter().map(longest).max().unwrap_or(0),
        Value::Object(keywords) => {
            let bounds = ["maxItems", "maxLength"]
                .into_iter()
                .filter_map(|keyword| keywords.get(keyword)?.as_u64());
            let bound = bounds.max().and_then(|bound| usize::try_from(bound).ok()).unwrap_or(0);
            keywords.values().map(longest).max().unwrap_or(0).max(bound)
        }
        _ => 0,
    }
}
