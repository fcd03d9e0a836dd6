//! Unions that official schemas express by conditions on the value of one member.

use mcp_json_schema::pointer;
use serde_json::{Map, Value, json};

use crate::normalise::constant;

/// The keywords of a condition.
pub(super) const CONDITION: [&str; 3] = ["if", "then", "else"];

/// The schemas of objects by the value of a member.
struct Cases<'s> {
    tag: &'s str,
    cases: Vec<Case<'s>>,
    /// The schema of all other objects.
    otherwise: &'s Value,
}

struct Case<'s> {
    value: &'s Value,
    then: &'s Value,
    /// Whether the schema also applies to objects without the member.
    includes_absence: bool,
}

/// Returns the union that a schema expresses by an `if` and a `then` for each value of a member: in the parts of an
/// `allOf`, or each in the `else` of the one before.
pub(super) fn union_of_conditions(root: &Value, schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_union = ["anyOf", "oneOf"].iter().any(|keyword| schema.contains_key(*keyword));
    if is_union || schema.get("type")? != "object" {
        return None;
    }
    let cases = Cases::of(schema).filter(|cases| cases.declare_members(schema))?;
    let variants = cases.variants(root, schema)?;
    let mut union = schema.clone();
    union.retain(|keyword, _| keyword != "allOf" && !CONDITION.contains(&keyword.as_str()));
    let is_tagged = |variant: &Value| tag_of(root, variant, cases.tag).is_some();
    if variants.iter().all(is_tagged) && declares_only(schema, cases.tag) {
        // The variants imply all of this.
        union.retain(|keyword, _| !["type", "properties", "required"].contains(&keyword.as_str()));
    }
    union.insert("anyOf".to_owned(), variants.into());
    Some(union)
}

impl<'s> Cases<'s> {
    fn of(schema: &'s Map<String, Value>) -> Option<Self> {
        let Some(parts) = schema.get("allOf") else {
            return Self::in_chain(schema);
        };
        let parts = parts.as_array().filter(|_| !schema.contains_key("if"))?;
        let mut chains = parts.iter().map(|part| Self::in_chain(as_condition(part)?));
        let first = chains.next()??;
        chains.try_fold(first, |mut all, chain| {
            // Only one schema applies to an object.
            let is_disjoint = |chain: &Self| *chain.otherwise == Value::Bool(true) && requires(schema, all.tag);
            let chain = chain.filter(|chain| chain.tag == all.tag && is_disjoint(chain) && is_disjoint(&all))?;
            all.cases.extend(chain.cases);
            Some(all)
        })
    }

    /// Reads a condition, and those in its `else`.
    fn in_chain(first: &'s Map<String, Value>) -> Option<Self> {
        let (tag, case) = case(first)?;
        let (mut cases, mut last) = (vec![case], first);
        while let Some(next) = last.get("else").and_then(as_condition) {
            let (_, case) = self::case(next).filter(|(other, _)| *other == tag)?;
            cases.push(case);
            last = next;
        }
        let otherwise = last.get("else").unwrap_or(&Value::Bool(true));
        Some(Self { tag, cases, otherwise })
    }

    /// Whether objects have different members, and not only different values of the same ones.
    fn declare_members(&self, schema: &Map<String, Value>) -> bool {
        let known = |name: &str| {
            schema
                .get("properties")
                .is_some_and(|members| members.get(name).is_some())
        };
        let declares = |then: &Value| {
            let members = then.get("properties").and_then(Value::as_object);
            ["$ref", "allOf"].iter().any(|keyword| then.get(keyword).is_some())
                || members.is_some_and(|members| members.keys().any(|name| !known(name)))
        };
        self.cases.iter().any(|case| declares(case.then)) || declares(self.otherwise)
    }

    /// Returns the variants of the union. `None` if it can't express the conditions.
    fn variants(&self, root: &Value, schema: &Map<String, Value>) -> Option<Vec<Value>> {
        let Self { tag, cases, otherwise } = self;
        let declared = schema.get("properties").and_then(|properties| properties.get(tag));
        let listed = declared.and_then(|declared| declared.get("enum")?.as_array());
        let is_other = |value: &Value| cases.iter().all(|case| case.value != value);
        let others: Vec<Value> = match (listed, otherwise) {
            (_, Value::Bool(false)) => Vec::new(),
            (Some(listed), _) => listed.iter().filter(|value| is_other(value)).cloned().collect(),
            (None, last) => vec![tag_of(root, last, tag).filter(|value| is_other(value))?.clone()],
        };
        // The first condition that is true of an object without the member.
        let of_absence = cases
            .iter()
            .position(|case| case.includes_absence)
            .unwrap_or(cases.len());
        let accepts_absence = |index: usize| index == of_absence && !requires(schema, tag);
        let is_once = |(index, case): (usize, &Case<'_>)| cases[..index].iter().all(|other| other.value != case.value);
        let is_listed = |case: &Case<'_>| listed.is_none_or(|listed| listed.contains(case.value));
        let is_lost = accepts_absence(cases.len()) && others.is_empty() && **otherwise != Value::Bool(false);
        if is_lost || !cases.iter().all(is_listed) || !cases.iter().enumerate().all(is_once) {
            return None;
        }
        let values = cases.iter().map(|case| (vec![case.value.clone()], case.then));
        let values = values.chain((!others.is_empty()).then_some((others, *otherwise)));
        let variants = values.enumerate().map(|(index, (values, then))| {
            if tag_of(root, then, tag).is_some_and(|value| values.contains(value)) {
                return then.clone();
            }
            let member = match values.as_slice() {
                [only] => json!({ "const": only }),
                several => json!({ "enum": several }),
            };
            let mut limit = json!({ "properties": { *tag: member } });
            if !accepts_absence(index) && !requires(schema, tag) {
                limit["required"] = json!([tag]);
            }
            json!({ "allOf": [limit, then] })
        });
        Some(variants.collect())
    }
}

/// Returns a schema that is only a condition.
fn as_condition(schema: &Value) -> Option<&Map<String, Value>> {
    let is_only = |schema: &&Map<String, Value>| schema.keys().all(|keyword| CONDITION.contains(&keyword.as_str()));
    schema
        .as_object()
        .filter(is_only)
        .filter(|schema| schema.contains_key("if"))
}

/// Returns the member and the case of `{"if": {"properties": {member: {"const": value}}}, "then": schema}`.
fn case(condition: &Map<String, Value>) -> Option<(&str, Case<'_>)> {
    let (test, then) = (condition.get("if")?.as_object()?, condition.get("then")?);
    let (tag, schema) = test
        .get("properties")?
        .as_object()
        .filter(|tests| tests.len() == 1)?
        .iter()
        .next()?;
    let mut others = test.iter().filter(|(keyword, _)| *keyword != "properties");
    let is_only = others.all(|(keyword, names)| keyword == "required" && *names == json!([tag]));
    let case = Case {
        value: constant(schema)?,
        then,
        includes_absence: !test.contains_key("required"),
    };
    is_only.then_some((tag.as_str(), case))
}

/// Returns the constant of the member in the objects that a reference leads to, if they require it.
fn tag_of<'s>(root: &'s Value, reference: &Value, tag: &str) -> Option<&'s Value> {
    let target = pointer::canonical(reference.get("$ref")?.as_str()?)?;
    let target = pointer::resolve(root, &target)?.as_object()?;
    let is_object = target.get("type").is_some_and(|kind| kind == "object") && requires(target, tag);
    constant(target.get("properties")?.get(tag)?).filter(|_| is_object)
}

/// Whether a schema says nothing about an object's members except that it has this one.
fn declares_only(schema: &Map<String, Value>, member: &str) -> bool {
    let members = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    members.into_iter().flatten().all(|(name, _)| name == member)
        && required.into_iter().flatten().all(|name| name == member)
}

fn requires(schema: &Map<String, Value>, member: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == member))
}

#[cfg(test)]
mod tests {
    use mcp_json_schema::Validator;

    use super::super::simplify::simplify;
    use super::*;

    fn reference(name: &str) -> Value {
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    fn case(tag: &str, then: &Value) -> Value {
        json!({"if": {"properties": {"type": {"const": tag}}}, "then": then})
    }

    /// Returns the conditions, each in the `else` of the one before.
    fn chain(cases: &[Value], last: &Value) -> Value {
        cases.iter().rev().fold(last.clone(), |otherwise, case| {
            let mut case = case.clone();
            case["else"] = otherwise;
            case
        })
    }

    /// Returns a schema of objects with a tag, and with other keywords.
    fn tagged(tags: &Value, others: &Value) -> Value {
        let mut schema = json!({"type": "object", "properties": {"type": tags}, "required": ["type"]});
        let others = others.as_object().unwrap().clone();
        schema.as_object_mut().unwrap().extend(others);
        schema
    }

    fn document(content: &Value) -> Value {
        let member = |tag: &str, name: &str| json!({"type": "object", "properties": {"type": {"const": tag}, name: {"type": "string"}}, "required": ["type", name]});
        json!({"$defs": {"Text": member("text", "text"), "Image": member("image", "data"), "Content": content}})
    }

    /// Simplifies a schema, and checks that it accepts the same values. Returns `None` if it stays as it is.
    fn simplified(content: &Value) -> Option<Value> {
        let before = document(content);
        let mut after = before.clone();
        simplify(&mut after);
        let validators = [&before, &after].map(|document| Validator::new(document).unwrap());
        for value in [
            json!(1),
            json!({}),
            json!({"text": "a"}),
            json!({"data": "a"}),
            json!({"url": "a"}),
            json!({"type": "text", "text": "a"}),
            json!({"type": "text", "text": 1}),
            json!({"type": "text"}),
            json!({"type": "image", "data": "a"}),
            json!({"type": "image", "text": "a", "url": 1}),
            json!({"type": "link", "url": "a"}),
            json!({"type": "link", "url": 1}),
            json!({"type": "other"}),
            json!({"type": 1}),
        ] {
            let [before, after] = validators
                .each_ref()
                .map(|validator| validator.validate("#/$defs/Content", &value).is_empty());
            assert_eq!(before, after, "{value} by {content}");
        }
        let after = after["$defs"]["Content"].take();
        (after != *content).then_some(after)
    }

    #[test]
    fn conditions_on_the_values_of_a_member_become_a_union() {
        let (text, image) = (reference("Text"), reference("Image"));
        let cases = [case("text", &text), case("image", &image)];
        let (listed, any) = (json!({"enum": ["text", "image"]}), json!({"type": "string"}));
        let whole = Some(json!({"anyOf": [text, image]}));
        assert_eq!(simplified(&tagged(&listed, &json!({ "allOf": cases }))), whole);
        assert_eq!(simplified(&tagged(&any, &chain(&cases, &json!(false)))), whole);
        assert_eq!(
            simplified(&tagged(&any, &json!({ "allOf": [chain(&cases, &json!(false))] }))),
            whole
        );
        assert_eq!(simplified(&tagged(&listed, &chain(&cases[..1], &cases[1]))), whole);
        assert_eq!(simplified(&tagged(&any, &chain(&cases[..1], &image))), whole);
    }

    #[test]
    fn a_value_without_a_tagged_definition_becomes_a_variant_of_its_own() {
        let text = reference("Text");
        let link = json!({"properties": {"url": {"type": "string"}}, "required": ["url"]});
        let listed = json!({"enum": ["text", "link", "other"]});
        let variant = |values: Value, then: &Value| json!({"allOf": [{"properties": {"type": values}}, then]});
        let expect = |variants: Value| Some(tagged(&listed, &json!({ "anyOf": variants })));
        let cases = json!({"allOf": [case("text", &text), case("link", &link)]});
        let others = variant(json!({"const": "other"}), &json!(true));
        let expected = expect(json!([text, variant(json!({"const": "link"}), &link), others]));
        assert_eq!(simplified(&tagged(&listed, &cases)), expected);
        let rest = variant(json!({"enum": ["link", "other"]}), &link);
        assert_eq!(
            simplified(&tagged(&listed, &chain(&[case("text", &text)], &link))),
            expect(json!([text, rest]))
        );
    }

    #[test]
    fn objects_without_the_member_are_in_the_variant_that_accepts_them() {
        let link = json!({"properties": {"url": {"type": "string"}}, "required": ["url"]});
        let form = json!({"properties": {"text": {"type": "string"}}, "required": ["text"]});
        for test in [json!({}), json!({"required": ["type"]})] {
            let mut case = case("link", &link);
            case["if"]
                .as_object_mut()
                .unwrap()
                .extend(test.as_object().unwrap().clone());
            for last in [&form, &json!(false), &json!(true), &reference("Text")] {
                let mut schema = tagged(&json!({"enum": ["link", "text"]}), &chain(&[case.clone()], last));
                schema.as_object_mut().unwrap().remove("required");
                assert!(simplified(&schema).unwrap()["anyOf"].is_array(), "{schema}");
            }
        }
    }

    #[test]
    fn conditions_that_are_no_union_stay() {
        let (text, sized) = (reference("Text"), json!({"required": ["size"]}));
        let listed = json!({"enum": ["text", "image"]});
        for schema in [
            // Another value isn't listed.
            tagged(&json!({"type": "string"}), &chain(&[case("text", &text)], &json!(true))),
            // The objects don't differ in their members.
            tagged(&listed, &chain(&[case("text", &sized)], &json!(true))),
            // Both schemas apply to an object.
            tagged(&listed, &json!({"allOf": [case("text", &text), case("text", &sized)]})),
        ] {
            assert_eq!(simplified(&schema), None);
        }
    }
}
