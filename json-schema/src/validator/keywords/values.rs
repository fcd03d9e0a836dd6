//! Checks of the values of keywords, like those of the meta-schemas.

use std::collections::HashSet;

use serde_json::Value;

use crate::pointer::child;

use super::super::error::{PatternError, Problem, unexpected};
use super::super::node::{NodeId, Rule, TypeSet};
use super::super::number::as_count;
use super::Keywords;

// Functions that many keywords call aren't inlined, because the code of all keywords is one function.
impl<'a> Keywords<'_, 'a> {
    #[inline(never)]
    pub(super) fn value(&self, keyword: &str) -> Option<&'a Value> {
        self.members.get(keyword)
    }

    pub(super) fn pointer(&self, keyword: &str) -> String {
        child(&self.at, keyword)
    }

    pub(super) fn refuse(&mut self, keyword: &str, message: impl ToString) {
        self.compiler.refuse(self.pointer(keyword), message);
    }

    pub(super) fn refuse_pattern(&mut self, keyword: &str, error: PatternError) {
        let PatternError { kind, message } = error;
        let pointer = self.pointer(keyword);
        self.compiler.report(Problem { pointer, kind, message });
    }

    #[inline(never)]
    pub(super) fn refuse_value(&mut self, at: String, expected: &str, value: &Value) {
        self.compiler.refuse(at, unexpected(expected, value));
    }

    pub(super) fn types(&mut self) -> Option<TypeSet> {
        let value = self.value("type")?;
        let mut types = TypeSet::default();
        match value {
            Value::String(name) if types.insert(name) => {}
            Value::String(_) => self.refuse_type(self.pointer("type"), value),
            Value::Array(names) if !names.is_empty() => {
                let at = self.pointer("type");
                for (index, name) in names.iter().enumerate() {
                    if !name.as_str().is_some_and(|name| types.insert(name)) {
                        self.refuse_type(child(&at, &index.to_string()), name);
                    }
                }
                self.refuse_repeated(&at, names);
            }
            _ => self.refuse_value(
                self.pointer("type"),
                "the name of a type, or an array of several",
                value,
            ),
        }
        Some(types)
    }

    fn refuse_type(&mut self, at: String, name: &Value) {
        let expected = format!("one of {}", TypeSet::names().join(", "));
        self.refuse_value(at, &expected, name);
    }

    #[inline(never)]
    pub(super) fn names(&mut self, at: String, value: &Value) -> Option<Vec<String>> {
        let Value::Array(elements) = value else {
            self.refuse_value(at, "an array of names", value);
            return None;
        };
        for (index, name) in elements.iter().enumerate().filter(|(_, name)| !name.is_string()) {
            self.refuse_value(child(&at, &index.to_string()), "a string", name);
        }
        self.refuse_repeated(&at, elements);
        elements.iter().map(|name| name.as_str().map(str::to_owned)).collect()
    }

    fn refuse_repeated(&mut self, at: &str, names: &[Value]) {
        let mut seen = HashSet::new();
        for (index, name) in names.iter().enumerate() {
            if !name.as_str().is_none_or(|name| seen.insert(name)) {
                let at = child(at, &index.to_string());
                self.refuse_value(at, "names that all differ", name);
            }
        }
    }

    pub(super) fn count(&mut self, keyword: &str, rule: fn(u64) -> Rule) {
        let count = self.natural(keyword);
        self.rules.extend(count.map(rule));
    }

    #[inline(never)]
    pub(super) fn natural(&mut self, keyword: &str) -> Option<u64> {
        let value = self.value(keyword)?;
        let count = value.as_number().and_then(as_count);
        if count.is_none() {
            self.refuse_value(self.pointer(keyword), "a natural number", value);
        }
        count
    }

    /// Whether `keyword` is `true`.
    #[inline(never)]
    pub(super) fn flag(&mut self, keyword: &str) -> bool {
        let Some(value) = self.value(keyword) else {
            return false;
        };
        if !value.is_boolean() {
            self.refuse_value(self.pointer(keyword), "a boolean", value);
        }
        *value == Value::Bool(true)
    }

    #[inline(never)]
    pub(super) fn text(&mut self, keyword: &str) -> Option<&'a str> {
        let value = self.value(keyword)?;
        if !value.is_string() {
            self.refuse_value(self.pointer(keyword), "a string", value);
        }
        value.as_str()
    }

    #[inline(never)]
    pub(super) fn array(&mut self, keyword: &str) -> Option<&'a Vec<Value>> {
        let value = self.value(keyword)?;
        if !value.is_array() {
            self.refuse_value(self.pointer(keyword), "an array", value);
        }
        value.as_array()
    }

    /// Returns the members of `keyword`'s object; none if it is absent.
    pub(super) fn object(&mut self, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        let value = self.value(keyword);
        if let Some(value) = value.filter(|value| !value.is_object()) {
            self.refuse_value(self.pointer(keyword), "an object", value);
        }
        value.and_then(Value::as_object).into_iter().flatten()
    }

    #[inline(never)]
    pub(super) fn schema(&mut self, keyword: &str) -> Option<NodeId> {
        let schema = self.value(keyword)?;
        Some(self.compiler.node(self.pointer(keyword), schema, self.base))
    }

    /// Returns the schemas that `keyword` lists. There must be at least one.
    #[inline(never)]
    pub(super) fn schemas(&mut self, keyword: &str) -> Vec<NodeId> {
        match self.array(keyword) {
            Some(schemas) if schemas.is_empty() => {
                self.refuse(keyword, "expected at least one schema, found none");
                Vec::new()
            }
            Some(schemas) => self.listed(keyword, schemas),
            None => Vec::new(),
        }
    }

    pub(super) fn listed(&mut self, keyword: &str, schemas: &'a [Value]) -> Vec<NodeId> {
        let list = self.pointer(keyword);
        schemas
            .iter()
            .enumerate()
            .map(|(index, schema)| self.compiler.node(format!("{list}/{index}"), schema, self.base))
            .collect()
    }

    #[inline(never)]
    pub(super) fn named_schemas(&mut self, keyword: &str) -> Vec<(String, NodeId)> {
        if self.value(keyword).is_none() {
            return Vec::new();
        }
        let container = self.pointer(keyword);
        self.object(keyword)
            .map(|(name, schema)| {
                let node = self.compiler.node(child(&container, name), schema, self.base);
                (name.clone(), node)
            })
            .collect()
    }
}
