//! Choosing the type of a value: by its method, its tag, its members or its JSON type. The cursor doesn't move.

use mcp_wire::{Decoded, JsonType, Reader};

use crate::tables::types::{Decision, ResultDiscriminator, Results, TypeId, TypeRef, Union};

/// Returns the type of the next message, by its method.
pub(super) fn message(reader: &mut Reader<'_>, methods: &[(&'static str, TypeId)]) -> Decoded<Option<TypeId>> {
    let method = reader.peek_tag("method")?;
    Ok(method.and_then(|method| of_method(methods, &method).copied()))
}

pub(crate) fn of_method<'m, T>(methods: &'m [(&'static str, T)], method: &str) -> Option<&'m T> {
    methods
        .iter()
        .find_map(|(name, value)| (*name == method).then_some(value))
}

/// Returns the position of the next value's variant. `None` for an object with an unknown tag.
pub(crate) fn choose(reader: &mut Reader<'_>, union: &Union) -> Decoded<Option<usize>> {
    let found = reader.json_type()?;
    if let (JsonType::Object, Some(decision)) = (found, &union.objects) {
        return decide(reader, decision, has_tag(decision));
    }
    let at = union
        .variants
        .iter()
        .position(|variant| variant.json_type == found && found != JsonType::Object);
    match at {
        Some(at) => Ok(Some(at)),
        None => Err(reader.wrong_type(expected(union), found)),
    }
}

fn expected(union: &Union) -> String {
    let scalars = union
        .variants
        .iter()
        .filter(|variant| variant.json_type != JsonType::Object);
    let mut names: Vec<&str> = scalars
        .map(|variant| match variant.ty {
            TypeRef::Integer => "an integer",
            _ => variant.json_type.with_article(),
        })
        .collect();
    if union.objects.is_some() {
        names.push(JsonType::Object.with_article());
    }
    names.join(" or ")
}

/// Whether a union has a tag, so that objects can have unknown ones.
pub(crate) fn has_tag(decision: &Decision) -> bool {
    match decision {
        Decision::Tag { others, .. } => others.is_none(),
        Decision::Has {
            decisions, otherwise, ..
        } => has_tag(otherwise) || decisions.iter().any(has_tag),
        Decision::Is(_) | Decision::Within { .. } => false,
    }
}

fn decide(reader: &mut Reader<'_>, decision: &Decision, knows_others: bool) -> Decoded<Option<usize>> {
    match decision {
        Decision::Is(index) => Ok(Some(*index)),
        Decision::Tag {
            member,
            types,
            cases,
            absent,
            others,
        } => {
            let tag = match types {
                None => reader.peek_tag(member)?,
                Some(types) => reader.peek_constant(member, types)?,
            };
            let case = tag
                .as_deref()
                .and_then(|tag| cases.iter().find(|(values, _)| values.contains(&tag)));
            match (tag, case, absent, others) {
                (_, Some((_, decision)), ..) => decide(reader, decision, knows_others),
                (Some(_), None, _, Some(others)) => decide(reader, others, knows_others),
                (Some(_), None, ..) if knows_others => Ok(None),
                (None, _, Some(absent), _) => decide(reader, absent, knows_others),
                _ => Err(reader.missing(member)),
            }
        }
        Decision::Has {
            discriminators,
            decisions,
            otherwise,
            needs,
        } => {
            let member = reader.peek_discriminator(discriminators, needs)?;
            let at = member.and_then(|member| discriminators.iter().position(|case| case.member == member));
            let decision = at.and_then(|at| decisions.get(at));
            decide(reader, decision.unwrap_or(otherwise), knows_others)
        }
        Decision::Within { member, decision } => {
            let chosen = reader.peek_into(member, |reader| decide(reader, decision, false))?;
            chosen.ok_or_else(|| reader.missing(member))
        }
    }
}

/// Returns the type of a result. `None` if it has an unknown tag.
pub(crate) fn choose_result<'r>(reader: &mut Reader<'_>, results: &'r Results) -> Decoded<Option<&'r TypeRef>> {
    Ok(match &results.told_by {
        ResultDiscriminator::Nothing => results.types.first(),
        ResultDiscriminator::Members(members) => {
            let found = reader.peek_members(members)?;
            let at = members.iter().position(|member| Some(*member) == found);
            results.types.get(at.unwrap_or(0))
        }
        ResultDiscriminator::Tag(tag, values) => match reader.peek_tag(tag)? {
            None => results.types.first(),
            Some(value) => {
                let at = values.iter().position(|known| *known == value);
                at.and_then(|at| results.types.get(at))
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use mcp_wire::Schema;

    use super::*;
    use crate::tables::Table;
    use crate::tables::types::Kind;

    static SCHEMA: Schema = Schema::new("2099-01-01", "{}");

    #[test]
    fn tags_are_booleans_integers_or_strings() {
        let table = r#"{"types": {"A": {}, "B": {}, "C": {}, "U": {"union": ["A", "B", "C"], "objects":
            {"tag": "a", "types": ["boolean", "number", "string"], "absent": null,
             "cases": [[["true"], 0], [["1"], 1], [["\"true\""], 2]]}}}}"#;
        let table = Table::parse(table, &SCHEMA).unwrap();
        let Some(Kind::Union(union)) = table.types.last().map(|ty| &ty.kind) else {
            panic!("not a union");
        };
        let chosen = |json: &str| choose(&mut Reader::new(json), union).map_err(|error| error.to_string());
        assert_eq!(chosen(r#"{"a": true}"#), Ok(Some(0)));
        assert_eq!(chosen(r#"{"a": 10e-1}"#), Ok(Some(1)));
        assert_eq!(chosen(r#"{"a": "true"}"#), Ok(Some(2)));
        assert_eq!(chosen(r#"{"a": false}"#), Ok(None));
        assert!(chosen(r#"{"a": null}"#).unwrap_err().contains("found null"));
        assert!(chosen("{}").is_err());
    }
}
