//! Validation by rules without subschemas.

use serde_json::Number;

use super::context::Context;
use super::equality::{equal, first_repetition};
use super::node::{Bound, Rule};
use super::number::Exact;
use super::violation::{Violation, constant, constants, found, quoted};
use super::violations::{FINE, Flow, Sink};
use crate::json::{Json, Members};

/// Validates a value by one rule. A rule for another type of value accepts it.
pub(super) fn assertion(rule: &Rule, context: Context<'_>, sink: &mut impl Sink) -> Flow {
    match context.value {
        Json::Number(number) => number_assertion(rule, number, context, sink)?,
        Json::String(text) => string_assertion(rule, text, context, sink)?,
        Json::Array(elements) => array_assertion(rule, elements, context, sink)?,
        Json::Object(members) => object_assertion(rule, members, context, sink)?,
        Json::Null | Json::Bool(_) => {}
    }
    match rule {
        Rule::Never => sink.refuse(|violations| {
            let violation = context.violation("", "nothing".to_owned(), found(context.value));
            violations.push(Violation {
                schema: context.node.at.clone(),
                ..violation
            })
        }),
        Rule::Type(types) if !types.admits(context.value) => context.refuse(sink, "type", || types.describe()),
        Rule::Const(allowed) if !equal(allowed, context.value) => context.refuse(sink, "const", || constant(allowed)),
        Rule::Enum(allowed) if !allowed.iter().any(|allowed| equal(allowed, context.value)) => {
            context.refuse(sink, "enum", || constants(allowed))
        }
        _ => FINE,
    }
}

fn number_assertion(rule: &Rule, number: &Number, context: Context<'_>, sink: &mut impl Sink) -> Flow {
    match rule {
        Rule::Bound(bound, limit, exact) => {
            let order = Exact::of(number).cmp(exact);
            let (fine, words) = match bound {
                Bound::Minimum => (order.is_ge(), "at least"),
                Bound::ExclusiveMinimum => (order.is_gt(), "more than"),
                Bound::Maximum => (order.is_le(), "at most"),
                Bound::ExclusiveMaximum => (order.is_lt(), "less than"),
            };
            if fine {
                return FINE;
            }
            context.refuse(sink, bound.keyword(), || format!("{words} {limit}"))
        }
        Rule::MultipleOf(divisor, exact) if !exact.divides(&Exact::of(number)) => {
            context.refuse(sink, "multipleOf", || format!("a multiple of {divisor}"))
        }
        _ => FINE,
    }
}

fn string_assertion(rule: &Rule, text: &str, context: Context<'_>, sink: &mut impl Sink) -> Flow {
    let (keyword, expected) = match rule {
        Rule::MinLength(min) if length(text) < *min => ("minLength", format!("at least {min} characters")),
        Rule::MaxLength(max) if length(text) > *max => ("maxLength", format!("at most {max} characters")),
        Rule::Pattern(pattern) if !pattern.matches(text) => ("pattern", format!("a match of `{}`", pattern.source())),
        _ => return FINE,
    };
    context.refuse(sink, keyword, || expected)
}

fn array_assertion(rule: &Rule, elements: &[Json<'_>], context: Context<'_>, sink: &mut impl Sink) -> Flow {
    let count = elements.len() as u64;
    let (keyword, expected, found) = match rule {
        Rule::MinItems(min) if count < *min => (
            "minItems",
            format!("at least {}", counted(*min, "element")),
            count.to_string(),
        ),
        Rule::MaxItems(max) if count > *max => (
            "maxItems",
            format!("at most {}", counted(*max, "element")),
            count.to_string(),
        ),
        Rule::UniqueItems => match first_repetition(elements) {
            Some((first, again)) => (
                "uniqueItems",
                "elements that all differ".to_owned(),
                format!("the same at {first} and {again}"),
            ),
            None => return FINE,
        },
        _ => return FINE,
    };
    sink.refuse(|violations| violations.push(context.violation(keyword, expected, found)))
}

fn object_assertion(rule: &Rule, members: &Members<'_>, context: Context<'_>, sink: &mut impl Sink) -> Flow {
    let count = members.len() as u64;
    let (keyword, expected) = match rule {
        Rule::MinProperties(min) if count < *min => ("minProperties", format!("at least {}", counted(*min, "member"))),
        Rule::MaxProperties(max) if count > *max => ("maxProperties", format!("at most {}", counted(*max, "member"))),
        Rule::Required(names) => return required("required", names, members, context, sink),
        Rule::DependentRequired(keyword, dependents) => {
            return dependents
                .iter()
                .filter(|(name, _)| members.contains_key(name))
                .try_for_each(|(_, names)| required(keyword, names, members, context, sink));
        }
        _ => return FINE,
    };
    sink.refuse(|violations| violations.push(context.violation(keyword, expected, count.to_string())))
}

fn required(
    keyword: &str,
    names: &[String],
    members: &Members<'_>,
    context: Context<'_>,
    sink: &mut impl Sink,
) -> Flow {
    names
        .iter()
        .filter(|name| !members.contains_key(name))
        .try_for_each(|name| {
            sink.refuse(|violations| {
                let expected = format!("a member {}", quoted(name));
                violations.push(context.violation(keyword, expected, "none".to_owned()))
            })
        })
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
