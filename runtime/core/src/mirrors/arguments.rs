//! HTTP headers that repeat arguments of a call: finding them in a schema, writing them, and comparing them with the
//! body.

use http::HeaderMap;
use http::HeaderName;
use mcp_adapters::MirroredArguments;
use serde_json::Value;

use super::only_value;

/// The keywords whose value is a schema or a list of schemas.
const SCHEMAS: [&str; 14] = [
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The keywords whose value is an object of schemas, except `properties`.
const NAMED_SCHEMAS: [&str; 4] = ["$defs", "definitions", "dependentSchemas", "patternProperties"];
/// The integers that every peer can represent.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The bytes that the headers of one schema can take in memory. Servers accept fewer bytes in the headers of a request.
const MAX_BYTES: usize = 64 << 10;

/// An argument that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentHeader {
    name: HeaderName,
    /// The path to the argument, as the names of members.
    path: Vec<String>,
    is_integer: bool,
}

/// Finds the arguments that headers repeat in the schema of all arguments.
///
/// # Errors
/// When a mark in the schema is invalid. A mark can be on strings, integers and Booleans that are reached only through
/// `properties`, and each must name a different header. The headers with their paths also have a limit of memory.
pub fn argument_headers(rule: &MirroredArguments, schema: &Value) -> Result<Vec<ArgumentHeader>, String> {
    let mut found = Search {
        rule,
        headers: Vec::new(),
        left: MAX_BYTES,
    };
    found.visit(schema, Some(&mut Vec::new()))?;
    Ok(found.headers)
}

struct Search<'s> {
    rule: &'s MirroredArguments,
    headers: Vec<ArgumentHeader>,
    /// The bytes that more headers can take.
    left: usize,
}

impl Search<'_> {
    /// Visits a schema and its subschemas. `path` is the path of the argument that the schema describes; `None` if the
    /// argument has no fixed path.
    fn visit(&mut self, schema: &Value, mut path: Option<&mut Vec<String>>) -> Result<(), String> {
        let Some(schema) = schema.as_object() else {
            return Ok(());
        };
        if let Some(mark) = schema.get(self.rule.keyword) {
            let path = path.as_deref().filter(|path| !path.is_empty());
            self.take(mark, schema.get("type"), path)?;
        }
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            match path.as_deref_mut() {
                Some(path) => {
                    path.push(name.clone());
                    self.visit(property, Some(path))?;
                    path.pop();
                }
                None => self.visit(property, None)?,
            }
        }
        let schemas = SCHEMAS.iter().filter_map(|keyword| schema.get(*keyword));
        for inner in schemas {
            for inner in inner.as_array().map_or(std::slice::from_ref(inner), Vec::as_slice) {
                self.visit(inner, None)?;
            }
        }
        let named = NAMED_SCHEMAS
            .iter()
            .filter_map(|keyword| schema.get(*keyword)?.as_object());
        for inner in named.flat_map(|schemas| schemas.values()) {
            self.visit(inner, None)?;
        }
        Ok(())
    }

    fn take(&mut self, mark: &Value, ty: Option<&Value>, path: Option<&Vec<String>>) -> Result<(), String> {
        let keyword = self.rule.keyword;
        let path =
            path.ok_or_else(|| format!("`{keyword}` isn't on an argument, or is on one without a fixed path"))?;
        let named = || path.join(".");
        let is_integer = match ty.and_then(Value::as_str) {
            Some("string" | "boolean") => false,
            Some("integer") => true,
            _ => {
                return Err(format!(
                    "`{keyword}` is at `{}`, which isn't a string, integer or Boolean",
                    named()
                ));
            }
        };
        let rest = mark.as_str().filter(|rest| !rest.is_empty());
        let name = rest.and_then(|rest| super::header_name(&format!("{}{rest}", self.rule.prefix)));
        let name =
            name.ok_or_else(|| format!("`{keyword}` at `{}` isn't a part of a header's name: {mark}", named()))?;
        if self.headers.iter().any(|other| other.name == name) {
            return Err(format!(
                "`{keyword}` at `{}` names a header that another argument has already: {mark}",
                named()
            ));
        }
        let header = ArgumentHeader {
            name,
            path: path.clone(),
            is_integer,
        };
        let left = self.left.checked_sub(header.bytes());
        self.left = left.ok_or_else(|| {
            format!("the headers with `{keyword}`, and the paths to their arguments, take more than {MAX_BYTES} bytes")
        })?;
        self.headers.push(header);
        Ok(())
    }
}

impl ArgumentHeader {
    /// Returns the name of the header.
    pub fn name(&self) -> &HeaderName {
        &self.name
    }

    /// Returns roughly how many bytes this takes in memory.
    pub fn bytes(&self) -> usize {
        self.name.as_str().len() + self.path.iter().map(|member| member.len() + 32).sum::<usize>() + 64
    }

    /// Returns the value of the header for these arguments; `None` if there is no header.
    pub fn text(&self, arguments: &Value) -> Option<String> {
        match self.argument(arguments)? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) if self.is_integer => {
                let value = number.as_f64().filter(|value| value.fract() == 0.0)?;
                (value.abs() <= SAFE_INTEGER).then(|| format!("{value:.0}"))
            }
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn argument<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        let argument = self
            .path
            .iter()
            .try_fold(arguments, |value, member| value.get(member))?;
        (!argument.is_null()).then_some(argument)
    }

    /// Compares the header with these arguments.
    ///
    /// # Errors
    /// When it is absent, malformed or has another value.
    pub fn check(&self, headers: &HeaderMap, arguments: &Value) -> Result<(), String> {
        let name = &self.name;
        match (only_value(headers, name.as_str())?, self.text(arguments)) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!("The header {name} is required")),
            // The handler of the call refuses an argument of another type.
            (Some(_), None) if self.argument(arguments).is_some() => Ok(()),
            (Some(_), None) => Err(format!("The header {name} repeats an argument that isn't given")),
            (Some(said), Some(expected)) if said == expected => Ok(()),
            (Some(said), Some(expected)) if self.is_integer && is_same_number(&said, &expected) => Ok(()),
            (Some(said), Some(expected)) => Err(format!("The header {name} is {said:?}, but must be {expected:?}")),
        }
    }
}

fn is_same_number(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use mcp_adapters::Revision;
    use serde_json::json;

    use super::*;

    fn rule() -> MirroredArguments {
        let mut rules = Revision::all().filter_map(|revision| revision.facts().mirrors.arguments);
        rules.next_back().expect("a revision has one")
    }

    fn find(schema: Value) -> Result<Vec<ArgumentHeader>, String> {
        argument_headers(&rule(), &schema)
    }

    fn marked(ty: &str) -> Value {
        json!({"type": ty, "x-mcp-header": "Mark"})
    }

    /// A long name is in the paths of all arguments below it.
    #[test]
    fn more_headers_than_a_request_can_have_are_refused() {
        let marked = |count: usize| {
            let property = |index: usize| {
                (
                    index.to_string(),
                    json!({"type": "string", "x-mcp-header": format!("H{index}")}),
                )
            };
            json!({"properties": (0..count).map(property).collect::<serde_json::Map<_, _>>()})
        };
        assert_eq!(find(marked(100)).expect("they are few").len(), 100);
        let long = json!({"properties": {"a".repeat(1_000_000): marked(100)}});
        for schema in [marked(50_000), long] {
            let refused = find(schema).expect_err("they are too many, or too long");
            assert!(refused.contains("65536 bytes"), "{refused}");
        }
    }

    #[test]
    fn header_marks_are_found_only_through_properties() {
        let place = json!({"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}});
        let schema = json!({"type": "object", "properties": {
            "place": place, "days": {"type": "integer", "x-mcp-header": "Days"}, "x-mcp-header": {"type": "string"},
            "odd": {"enum": [{"x-mcp-header": "No"}], "default": {"x-mcp-header": 1}},
        }});
        let headers = find(schema).expect("it is right");
        let arguments = json!({"place": {"city": "Bern"}, "days": 3.0});
        let texts: Vec<_> = headers
            .iter()
            .map(|header| (header.name().as_str(), header.text(&arguments)))
            .collect();
        assert!(
            texts.contains(&("mcp-param-city", Some("Bern".to_owned()))),
            "{texts:?}"
        );
        assert!(texts.contains(&("mcp-param-days", Some("3".to_owned()))), "{texts:?}");
        assert_eq!(texts.len(), 2);
    }

    #[test]
    fn misplaced_or_malformed_header_marks_are_errors() {
        for schema in [
            marked("string"),
            json!({"properties": {"a": marked("number")}}),
            json!({"properties": {"a": marked("object")}}),
            json!({"properties": {"a": {"x-mcp-header": "Mark"}}}),
            json!({"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "Mark"}}}),
            json!({"properties": {"a": {"type": "array", "items": marked("string")}}}),
            json!({"properties": {"a": {"oneOf": [{"properties": {"b": marked("string")}}]}}}),
            json!({"$defs": {"a": marked("string")}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A B"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A:B"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "Ä"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": 1}}}),
            json!({"properties": {"a": marked("string"), "b": {"type": "string", "x-mcp-header": "mARK"}}}),
        ] {
            assert!(find(schema.clone()).is_err(), "{schema}");
        }
    }

    #[test]
    fn headers_are_compared_with_arguments_by_value() {
        let schema = json!({"properties": {
            "text": {"type": "string", "x-mcp-header": "Text"}, "count": {"type": "integer", "x-mcp-header": "Count"},
        }});
        let headers = find(schema).expect("it is right");
        let check = |said: &[(&'static str, &'static str)], arguments: Value| {
            let said = said
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), http::HeaderValue::from_static(value)));
            let said: HeaderMap = said.collect();
            headers.iter().all(|header| header.check(&said, &arguments).is_ok())
        };
        assert!(check(&[], json!({})));
        assert!(check(&[], json!({"text": null})));
        assert!(check(&[("mcp-param-count", "42.0")], json!({"count": 42})));
        assert!(check(&[("mcp-param-count", "42")], json!({"count": 42.0})));
        assert!(check(&[], json!({"count": 9_007_199_254_740_993_i64})));
        assert!(check(
            &[("mcp-param-text", "=?base64?WsO8cmljaA==?=")],
            json!({"text": "Zürich"})
        ));
        assert!(!check(&[("mcp-param-count", "43")], json!({"count": 42})));
        assert!(!check(&[("mcp-param-count", "NaN")], json!({"count": 42})));
        assert!(!check(&[("mcp-param-text", "1.0")], json!({"text": "1"})));
        assert!(!check(&[("mcp-param-text", "a")], json!({})));
        assert!(!check(&[], json!({"text": "a"})));
    }
}
