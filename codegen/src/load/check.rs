//! Finds everything in a document that the generator can't honour, before anything is built from it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::dialect::{CONTAINERS, Dialect, definitions};
use super::document::Document;
use super::keyword::{Shape, shape, subschemas};
use super::{pointer, reference};
use crate::problem::{Problem, Problems};

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

const CORRECT: &str = "if the official schema has it so, put it right with a correction in the revision's overlay.yaml";

/// Checks a schema document as a whole.
///
/// # Errors
///
/// Every unknown dialect, missing definition, malformed or unknown keyword, and reference that leads nowhere.
pub fn check_document(document: &Document) -> Result<(), Problems> {
    let mut problems = Vec::new();
    if !document.root().is_object() {
        let found = kind(document.root());
        let problem = document.problem("#", format!("a schema document is an object, and this is {found}"));
        problems.push(problem.help("give the whole official schema.json, not a part of it"));
        return Problems::check(problems);
    }
    let dialect = Dialect::of(document).unwrap_or_else(|problem| {
        problems.push(problem);
        Dialect::Draft202012
    });
    if definitions(document).next().is_none() {
        let [first, second] = CONTAINERS;
        let problem = document.problem("#", "this document has no definitions");
        problems.push(problem.help(format!(
            "types are made from the members of `{first}` or `{second}` at its root"
        )));
    }
    let mut checker = Checker {
        document,
        dialect,
        problems,
        pointer: String::from("#"),
    };
    checker.schema(document.root());
    let mut problems = checker.problems;
    problems.extend(reference::find_circles(document, dialect));
    Problems::check(problems)
}

struct Checker<'document> {
    document: &'document Document,
    dialect: Dialect,
    problems: Vec<Problem>,
    pointer: String,
}

impl Checker<'_> {
    fn schema(&mut self, schema: &Value) {
        match schema {
            Value::Object(keywords) => {
                for (keyword, value) in keywords {
                    self.below(keyword, |checker| checker.keyword(keyword, value));
                }
            }
            Value::Bool(_) => {}
            other => self.problem(format!(
                "a schema is an object, `true` or `false`, and this is {}",
                kind(other)
            )),
        }
        for (steps, inner) in subschemas(schema) {
            let above = self.pointer.len();
            steps.iter().for_each(|step| pointer::push(&mut self.pointer, step));
            self.schema(inner);
            self.pointer.truncate(above);
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Value) {
        let Some(shape) = shape(keyword) else {
            let problem = self.document.problem(
                &self.pointer,
                format!("the generator can't honour the keyword `{keyword}`"),
            );
            self.problems.push(problem.help(
                "say the same with other keywords through a correction in the revision's overlay.yaml, or remove it there if it refuses no instance",
            ));
            return;
        };
        match shape {
            Shape::Any => {}
            // A schema of a wrong kind is reported where it is walked.
            Shape::Schema => self.expect(value, value.is_object() || value.is_boolean(), "a schema"),
            Shape::Schemas => self.expect_list(value, "a list of schemas with at least one element"),
            Shape::SchemaMap | Shape::Dependencies => {
                self.expect(value, value.is_object(), "an object");
                if shape == Shape::Dependencies {
                    self.names_by_name(value);
                }
            }
            Shape::Items => self.items(value),
            Shape::Reference => self.reference(value),
            Shape::Types => self.types(value),
            Shape::Names => self.names(value),
            Shape::NamesMap => {
                self.expect(value, value.is_object(), "an object");
                for (name, names) in value.as_object().into_iter().flatten() {
                    self.below(name, |checker| checker.names(names));
                }
            }
            Shape::Divisor => self.expect(
                value,
                value.as_f64().is_some_and(|number| number > 0.0),
                "a number above 0",
            ),
            Shape::Number => self.expect(value, value.is_number(), "a number"),
            Shape::Count => {
                let is_count = value.as_u64().is_some()
                    || value
                        .as_f64()
                        .is_some_and(|number| number >= 0.0 && number.fract() == 0.0);
                self.expect(value, is_count, "a whole number from 0");
            }
            Shape::Flag => self.expect(value, value.is_boolean(), "`true` or `false`"),
            Shape::Text => self.expect(value, value.is_string(), "a string"),
            Shape::RootText => self.root_text(keyword, value),
            Shape::Values => self.expect_list(value, "a list with at least one element"),
        }
    }

    fn items(&mut self, value: &Value) {
        if value.is_array() && self.dialect == Dialect::Draft202012 {
            let problem = self
                .document
                .problem(&self.pointer, "in 2020-12 `items` is one schema, and this is a list");
            self.problems
                .push(problem.help("a list of schemas by position is `prefixItems` there"));
        } else {
            self.expect(
                value,
                value.is_object() || value.is_boolean() || value.is_array(),
                "a schema or a list of schemas",
            );
        }
    }

    fn reference(&mut self, value: &Value) {
        let Some(reference) = value.as_str() else {
            return self.expect(value, false, "a string");
        };
        if let Err((what, help)) = reference::follow(self.document.root(), reference) {
            self.problems
                .push(self.document.problem(&self.pointer, what).help(help));
        }
    }

    fn types(&mut self, value: &Value) {
        match value {
            Value::Array(types) if !types.is_empty() => {
                for (index, each) in types.iter().enumerate() {
                    self.below(&index.to_string(), |checker| checker.type_name(each));
                }
                self.distinct(types);
            }
            Value::String(_) => self.type_name(value),
            other => self.expect(other, false, "a type name or a list of them"),
        }
    }

    fn type_name(&mut self, value: &Value) {
        let is_known = value.as_str().is_some_and(|name| TYPES.contains(&name));
        self.expect(value, is_known, &format!("one of {}", TYPES.join(", ")));
    }

    fn names(&mut self, value: &Value) {
        let Some(names) = value.as_array() else {
            return self.expect(value, false, "a list of strings");
        };
        for (index, name) in names.iter().enumerate() {
            self.below(&index.to_string(), |checker| {
                checker.expect(name, name.is_string(), "a string")
            });
        }
        self.distinct(names);
    }

    fn distinct(&mut self, names: &[Value]) {
        let mut seen = BTreeSet::new();
        for (index, name) in names.iter().enumerate() {
            if !name.as_str().is_none_or(|name| seen.insert(name)) {
                self.below(&index.to_string(), |checker| {
                    checker.problem(format!("{name} stands in this list twice"))
                });
            }
        }
    }

    /// The lists in `dependencies`; its schemas are walked as schemas.
    fn names_by_name(&mut self, value: &Value) {
        for (name, names) in value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, each)| each.is_array())
        {
            self.below(name, |checker| checker.names(names));
        }
    }

    fn root_text(&mut self, keyword: &str, value: &Value) {
        self.expect(value, value.is_string(), "a string");
        if self.pointer.matches('/').count() > 1 {
            let problem = self
                .document
                .problem(&self.pointer, format!("`{keyword}` may stand at the root only"));
            self.problems.push(problem.help("the generator reads each document as one whole in one dialect: remove it through the revision's overlay.yaml"));
        }
    }

    fn expect_list(&mut self, value: &Value, expected: &str) {
        self.expect(value, value.as_array().is_some_and(|list| !list.is_empty()), expected);
    }

    fn expect(&mut self, value: &Value, is_met: bool, expected: &str) {
        if !is_met {
            self.problem(format!("{expected} should stand here, and this is {}", kind(value)));
        }
    }

    fn problem(&mut self, what: String) {
        let problem = self.document.problem(&self.pointer, what);
        self.problems.push(problem.help(CORRECT));
    }

    /// Runs a check one step further down.
    fn below(&mut self, token: &str, check: impl FnOnce(&mut Self)) {
        let above = self.pointer.len();
        pointer::push(&mut self.pointer, token);
        check(self);
        self.pointer.truncate(above);
    }
}

/// What a value is, for a sentence; short scalars are shown.
fn kind(value: &Value) -> String {
    match value {
        Value::Object(_) => "an object".into(),
        Value::Array(list) if list.is_empty() => "an empty list".into(),
        Value::Array(_) => "a list".into(),
        Value::String(text) if text.chars().count() > 40 => "a string".into(),
        scalar => scalar.to_string(),
    }
}
