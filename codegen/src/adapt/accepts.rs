//! Whether one schema is known to accept what another accepts.

use std::collections::HashSet;

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use super::Side;
use crate::normalise::follow;

/// Keywords that assert nothing, beside those that begin with `x-`.
const ANNOTATIONS: [&str; 9] = [
    "$comment",
    "$schema",
    "default",
    "definitions",
    "$defs",
    "description",
    "examples",
    "format",
    "title",
];

/// The schemas of two revisions, of which the target's is asked about.
pub(super) struct Schemas<'m> {
    target: Side<'m>,
    source: Side<'m>,
    /// The pairs that are being compared: a schema that holds itself accepts what the rest of it does.
    under_way: HashSet<(*const Value, *const Value)>,
}

impl<'m> Schemas<'m> {
    pub(super) fn new(target: Side<'m>, source: Side<'m>) -> Self {
        Self {
            target,
            source,
            under_way: HashSet::new(),
        }
    }

    /// Whether the target's schema at a pointer is known to accept what the source's at another accepts.
    pub(super) fn accept(&mut self, target: &str, source: &str) -> bool {
        let (target, source) = (
            pointer::resolve(self.target.schema, target),
            pointer::resolve(self.source.schema, source),
        );
        target.is_none_or(|target| source.is_some_and(|source| self.accepts_schema(target, source)))
    }

    /// The same without the members that the schemas declare by name.
    pub(super) fn accept_others(&mut self, target: &str, source: &str) -> bool {
        let at = |side: Side<'m>, at| follow(side.schema, pointer::resolve(side.schema, at)?);
        let (target, source) = (at(self.target, target), at(self.source, source));
        let (Some(target), Some(source)) = (target, source) else {
            return target.is_none();
        };
        let mut keywords = assertions(target).filter(|(keyword, _)| !["properties", "required"].contains(keyword));
        keywords.all(|(keyword, asserted)| self.asserted(target, source, keyword, asserted))
    }

    fn accepts_schema(&mut self, target: &'m Value, source: &'m Value) -> bool {
        let target = follow(self.target.schema, target);
        let source = follow(self.source.schema, source);
        let (Some(target), Some(source)) = (target, source) else {
            return false;
        };
        if *source == Value::Bool(false) || *target == Value::Bool(true) {
            return true;
        }
        if !self.under_way.insert((target, source)) {
            return true;
        }
        let alternatives = ["anyOf", "oneOf"]
            .into_iter()
            .find_map(|keyword| source.get(keyword)?.as_array());
        let accepts = match alternatives {
            Some(alternatives) => alternatives.iter().all(|source| self.accepts_schema(target, source)),
            None => {
                target.is_object()
                    && assertions(target).all(|(keyword, asserted)| self.asserted(target, source, keyword, asserted))
            }
        };
        if !accepts {
            self.under_way.remove(&(target as *const _, source as *const _));
        }
        accepts
    }

    /// Whether what the source accepts satisfies a keyword of the target.
    fn asserted(&mut self, target: &'m Value, source: &'m Value, keyword: &str, asserted: &'m Value) -> bool {
        static OPEN: Value = Value::Bool(true);
        let said = source.get(keyword);
        match (keyword, asserted) {
            ("type", _) => types(said).is_some_and(|said| {
                let allowed = types(Some(asserted)).unwrap_or_default();
                said.iter()
                    .all(|ty| allowed.contains(ty) || *ty == "integer" && allowed.contains(&"number"))
            }),
            ("enum", Value::Array(allowed)) => match (source.get("const"), said.and_then(Value::as_array)) {
                (Some(constant), _) => allowed.contains(constant),
                (None, Some(said)) => said.iter().all(|value| allowed.contains(value)),
                (None, None) => false,
            },
            ("required", Value::Array(required)) => {
                let said = said.and_then(Value::as_array);
                required.iter().all(|name| said.is_some_and(|said| said.contains(name)))
            }
            ("properties", Value::Object(properties)) => properties.iter().all(|(name, property)| {
                let named = source.get("properties").and_then(|properties| properties.get(name));
                let other = named.or_else(|| source.get("additionalProperties")).unwrap_or(&OPEN);
                self.accepts_schema(property, other)
            }),
            ("additionalProperties", _) => {
                let others = source.get("additionalProperties").unwrap_or(&OPEN);
                let named = source
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten();
                let by_pattern = source.get("patternProperties").and_then(Value::as_object);
                let declared = |name: &str| target.get("properties").is_some_and(|all| all.get(name).is_some());
                self.accepts_schema(asserted, others)
                    && by_pattern
                        .into_iter()
                        .flatten()
                        .all(|(_, property)| self.accepts_schema(asserted, property))
                    && named
                        .filter(|(name, _)| !declared(name))
                        .all(|(_, property)| self.accepts_schema(asserted, property))
            }
            ("items", _) => self.accepts_schema(asserted, said.unwrap_or(&OPEN)),
            ("anyOf", Value::Array(alternatives)) => {
                alternatives.iter().any(|target| self.accepts_schema(target, source))
            }
            ("allOf", Value::Array(parts)) => parts.iter().all(|target| self.accepts_schema(target, source)),
            _ => said == Some(asserted),
        }
    }
}

/// The keywords of a schema that assert something.
fn assertions(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let keywords = schema.as_object().into_iter().flatten();
    let keywords = keywords.map(|(keyword, asserted)| (keyword.as_str(), asserted));
    keywords.filter(|(keyword, _)| !keyword.starts_with("x-") && !ANNOTATIONS.contains(keyword))
}

/// The types that a schema names. `None` if it names none.
fn types(keyword: Option<&Value>) -> Option<Vec<&str>> {
    match keyword? {
        Value::String(ty) => Some(vec![ty]),
        Value::Array(types) => Some(types.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}
