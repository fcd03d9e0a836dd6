//! Types in TypeScript, as a JSON Schema describes them.
//!
//! Keywords that TypeScript can't express, such as `minimum` and `pattern`, are left out.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use mcp_json_schema::pointer;
use serde_json::{Map, Value};

use super::super::docs::wrapped;
use super::super::input::EmitInput;
use super::expression::Expression;
use super::names::key;
use crate::normalise::envelope::WHOLE;
use crate::overlay::Deprecation;

/// Maximum depth of references to parts of definitions, which have no name and may be recursive.
const MAX_PARTS: usize = 8;

/// Writes types.
pub(super) struct TypeWriter<'i> {
    pub(super) input: &'i EmitInput<'i>,
    pub(super) names: BTreeMap<&'i str, String>,
    /// The number of references to parts of definitions that lead to the current place.
    pub(super) parts: Cell<usize>,
}

impl TypeWriter<'_> {
    /// Returns the type that a schema describes.
    pub(super) fn ty(&self, schema: &Value, at: &str) -> Expression {
        let schema = match schema {
            Value::Bool(false) => return Expression::single("never"),
            Value::Object(schema) => schema,
            _ => return Expression::unknown(),
        };
        if let Some(constant) = schema.get("const") {
            return literal(constant);
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            return Expression::union(values.iter().map(literal));
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let mut all: Vec<Expression> = reference.map(|it| self.reference(it)).into_iter().collect();
        for keyword in ["anyOf", "oneOf"] {
            all.extend(self.each(schema, keyword, at).map(Expression::union));
        }
        all.extend(self.each(schema, "allOf", at).into_iter().flatten());
        all.extend(self.own(schema, at));
        Expression::intersection(all)
    }

    /// Returns the types of the schemas in the list of a keyword, if the schema has it.
    fn each(&self, schema: &Map<String, Value>, keyword: &str, at: &str) -> Option<Vec<Expression>> {
        let inner = pointer::child(at, keyword);
        let types = list(schema, keyword)?.iter().enumerate();
        let types = types.map(|(index, it)| self.ty(it, &pointer::child(&inner, &index.to_string())));
        Some(types.collect())
    }

    /// Returns the type that a schema describes apart from its references and alternatives.
    fn own(&self, schema: &Map<String, Value>, at: &str) -> Option<Expression> {
        match schema.get("type") {
            Some(Value::String(name)) => Some(self.of_type(name, schema, at)),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                Some(Expression::union(names.map(|name| self.of_type(name, schema, at))))
            }
            _ => {
                let mut of_objects = ["properties", "required", "additionalProperties"].iter();
                let is_object = of_objects.any(|keyword| schema.contains_key(*keyword));
                is_object.then(|| self.object(schema, at))
            }
        }
    }

    fn of_type(&self, name: &str, schema: &Map<String, Value>, at: &str) -> Expression {
        match name {
            "integer" => Expression::single("number"),
            "array" => self.array(schema, at),
            "object" => self.object(schema, at),
            simple => Expression::single(simple),
        }
    }

    fn array(&self, schema: &Map<String, Value>, at: &str) -> Expression {
        let items = schema.get("items").map_or_else(Expression::unknown, |items| {
            self.ty(items, &pointer::child(at, "items"))
        });
        let rest = Expression::array(&items);
        match self.each(schema, "prefixItems", at) {
            None => rest,
            // An array may have fewer elements than its schema lists.
            Some(first) => {
                let first: String = first.iter().map(|ty| format!("({ty})?, ")).collect();
                Expression::single(format!("[{first}...{rest}]"))
            }
        }
    }

    fn object(&self, schema: &Map<String, Value>, at: &str) -> Expression {
        Expression::single(self.members(schema, None, at))
    }

    /// Returns the members of an object, in braces. Those of a definition are documented by its name, and start with
    /// those of its envelope.
    pub(super) fn members(&self, schema: &Map<String, Value>, definition: Option<(&str, &str)>, at: &str) -> String {
        let own_type = self.input.model().places.get(at);
        let own_type = own_type.and_then(|name| self.input.model().types.get(name));
        let (documented_as, envelope) = match definition {
            Some((name, envelope)) => (Some(name), envelope),
            None => (own_type.map(|ty| ty.documented_as.as_str()), ""),
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = list(schema, "required").unwrap_or_default();
        let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
        let inner = pointer::child(at, "properties");
        let mut members = envelope.to_owned();
        for (name, property) in properties.into_iter().flatten() {
            let pointer = pointer::child(&inner, name);
            let text = documented_as.and_then(|key| self.input.docs.entry(key, Some(name)));
            let text = text.map_or("", |(_, text)| text);
            let deprecation = self.input.model().deprecation(&pointer).map(Deprecation::note);
            members += &comment(text, None, deprecation.as_deref());
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            let ty = self.ty(property, &pointer);
            let _ = writeln!(members, "{}{optional}: {ty};", key(name));
        }
        let is_declared = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
        for name in required.iter().filter(|name| !is_declared(name)) {
            let _ = writeln!(members, "{}: unknown;", key(name));
        }
        if let Some(ty) = self.others(schema, !members.is_empty(), at) {
            let _ = writeln!(members, "[key: string]: {ty};");
        }
        match members.as_str() {
            "" => "{}".to_owned(),
            members => format!("{{\n{}}}", indented(members)),
        }
    }

    /// Returns the type of the members that the schema doesn't name.
    fn others(&self, schema: &Map<String, Value>, declares: bool, at: &str) -> Option<Expression> {
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            // The type of all members must hold those that are declared.
            Some(_) if declares => Some(Expression::unknown()),
            Some(others) => {
                let pointer = pointer::child(at, "additionalProperties");
                Some(self.ty(others, &pointer))
            }
            None => (!declares).then(Expression::unknown),
        }
    }

    fn reference(&self, reference: &str) -> Expression {
        let target = pointer::canonical(reference).unwrap_or_default();
        if let Some(name) = self.definition_at(&target) {
            return Expression::single(name);
        }
        let parts = self.parts.get();
        let Some(part) = pointer::resolve(self.input.schema(), &target).filter(|_| parts < MAX_PARTS) else {
            return Expression::unknown();
        };
        self.parts.set(parts + 1);
        let ty = self.ty(part, &target);
        self.parts.set(parts);
        ty
    }

    /// Returns the name of the definition at a pointer, with or without its envelope: TypeScript only has the one with
    /// it.
    pub(super) fn definition_at(&self, target: &str) -> Option<&str> {
        let tokens = pointer::tokens(target)?;
        let name = match tokens.as_slice() {
            [_, name] => name,
            [_, name, _, whole] if whole == WHOLE => name,
            _ => return None,
        };
        self.names.get(name.as_str()).map(String::as_str)
    }
}

fn list<'s>(schema: &'s Map<String, Value>, keyword: &str) -> Option<&'s [Value]> {
    schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice)
}

fn literal(value: &Value) -> Expression {
    match value {
        Value::Array(_) => Expression::array(&Expression::unknown()),
        Value::Object(_) => Expression::single("{ [key: string]: unknown }"),
        simple => Expression::single(simple.to_string()),
    }
}

/// Returns the lines of a text within braces.
pub(super) fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns a documentation comment; empty without documentation.
pub(super) fn comment(text: &str, link: Option<&str>, deprecation: Option<&str>) -> String {
    let mut lines = wrapped(text);
    lines.extend(link.map(|link| format!("@see {link}")));
    lines.extend(deprecation.map(|note| format!("@deprecated {note}")));
    let lines: Vec<String> = lines.iter().map(|line| line.replace("*/", "* /")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("/** {line} */\n"),
        lines => {
            let lines = lines
                .iter()
                .map(|line| format!(" * {line}").trim_end().to_owned() + "\n");
            format!("/**\n{} */\n", String::from_iter(lines))
        }
    }
}
