//! Properties that every conversion must have, checked on random instances of every definition.

use std::collections::BTreeMap;

use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::mcp_wire::{ErrorObject, Path, RawJson};
use mcp_adapters::{
    Conversion, Loss, LossKind, Policy, Revision, Supply, TranslateError, Translation, peers, translatable, translate,
    translate_error,
};
use mcp_instances::Instances;
use mcp_tests::{OfEach, compare_by_trees, corrected, same};
use serde_json::{Value, json};

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 40;

/// Returns every pair of different revisions, in both directions.
fn pairs() -> impl Iterator<Item = (Revision, Revision)> {
    let others = |from| Revision::ALL.into_iter().map(move |to| (from, to));
    Revision::ALL
        .into_iter()
        .flat_map(others)
        .filter(|(from, to)| from != to)
}

/// Returns valid instances of the definitions that can be translated from a revision.
fn valid_instances(revision: Revision) -> &'static [(&'static str, Value)] {
    static VALID: OfEach<Vec<(&str, Value)>> = OfEach::new();
    VALID.get(revision, || {
        let instances = corrected(revision);
        let known: Vec<&str> = instances.definitions().collect();
        let definitions = translatable(revision).filter(|name| known.contains(name));
        let valid = definitions.flat_map(|name| {
            let made = instances
                .of(name, 7, COUNT)
                .into_iter()
                .filter(|instance| instance.valid);
            made.map(move |instance| (name, instance.value))
        });
        valid.collect()
    })
}

/// Returns the values that a session between peers of these revisions supplies to a conversion.
fn supply((from, to): (Revision, Revision)) -> Supply {
    let known = match from < to {
        true => json!({"meta.version": to.as_str(), "meta.capabilities": {}}),
        false => json!({"elicitation": "1"}),
    };
    let known = known.as_object().into_iter().flatten();
    known.map(|(key, value)| (key.clone(), RawJson::from(value))).collect()
}

fn translated(
    pair: (Revision, Revision),
    name: &str,
    value: &Value,
    policy: Policy,
) -> Result<(Translation, Value), TranslateError> {
    supplied(pair, name, value, policy, supply(pair))
}

fn supplied(
    (from, to): (Revision, Revision),
    name: &str,
    value: &Value,
    policy: Policy,
    supply: Supply,
) -> Result<(Translation, Value), TranslateError> {
    let conversion = Conversion::new(policy).supplied_with(supply);
    let translation = translate(from, to, name, value.to_string().as_bytes(), conversion)?;
    let value = serde_json::from_str(translation.value.text()).unwrap();
    Ok((translation, value))
}

/// Translates a value back, supplied with the values that the first translation recorded.
fn returned(
    (from, to): (Revision, Revision),
    there: &Translation,
    value: &Value,
    policy: Policy,
) -> Result<(Translation, Value), TranslateError> {
    let known = there.supply.clone().unwrap_or_default();
    supplied((to, from), there.definition, value, policy, known)
}

/// Whether the corrected schema accepts a value.
///
/// Only some revisions declare the JSON-RPC envelope in the definition of each message. A message without an envelope
/// gets one here, as it would on the wire.
fn is_valid(schema: &Instances, name: &str, value: &Value) -> bool {
    let mut enveloped = value.clone();
    if let Some(message) = enveloped.as_object_mut()
        && message.contains_key("method")
    {
        message.entry("jsonrpc").or_insert_with(|| json!("2.0"));
        message.entry("id").or_insert_with(|| json!(1));
    }
    schema.accepts(name, value).unwrap_or(true) || schema.accepts(name, &enveloped).unwrap_or(true)
}

/// Returns the paths at which two values differ.
fn differences(one: &Value, other: &Value) -> Vec<Path> {
    fn walk(one: &Value, other: &Value, path: &mut Path, found: &mut Vec<Path>) {
        match (one, other) {
            (Value::Object(members), Value::Object(others)) => {
                let mut names: Vec<&String> = members.keys().chain(others.keys()).collect();
                names.sort_unstable();
                names.dedup();
                for name in names {
                    path.push_member(name.as_str());
                    match (members.get(name), others.get(name)) {
                        (Some(one), Some(other)) => walk(one, other, path, found),
                        _ => found.push(path.clone()),
                    }
                    path.pop();
                }
            }
            (Value::Array(elements), Value::Array(others)) if elements.len() == others.len() => {
                for (index, (one, other)) in elements.iter().zip(others).enumerate() {
                    path.push_index(index);
                    walk(one, other, path, found);
                    path.pop();
                }
            }
            _ if same(one, other) => {}
            _ => found.push(path.clone()),
        }
    }
    let mut found = Vec::new();
    walk(one, other, &mut Path::default(), &mut found);
    found
}

/// Returns the path of a member, in the notation of losses.
fn path_to(member: &str) -> String {
    let mut path = Path::default();
    path.push_member(member);
    path.to_string()
}

/// Whether there is a value at a path.
fn has(value: &Value, path: &[Segment]) -> bool {
    let inner = |value, segment: &Segment| match segment {
        Segment::Member(name) => Value::get(value, name),
        Segment::Index(index) => Value::get(value, index),
    };
    path.iter().try_fold(value, inner).is_some()
}

/// Whether the paths are equal, or one is a prefix of the other.
fn touches(one: &str, other: &str) -> bool {
    let leads = |one: &str, other: &str| {
        other
            .strip_prefix(one)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    one == "(root)" || other == "(root)" || leads(one, other) || leads(other, one)
}

/// Returns a value without what it has at a path.
fn without(value: &Value, path: &[Segment]) -> Value {
    let mut value = value.clone();
    if let Some((last, around)) = path.split_last() {
        let inner = |value, segment: &Segment| match segment {
            Segment::Member(name) => Value::get_mut(value, name),
            Segment::Index(index) => Value::get_mut(value, index),
        };
        match (around.iter().try_fold(&mut value, inner), last) {
            (Some(Value::Object(members)), Segment::Member(name)) => drop(members.remove(name)),
            (Some(Value::Array(elements)), Segment::Index(index)) => drop(elements.remove(*index)),
            _ => {}
        }
    }
    value
}

/// Whether a loss is about what a value has at a path. The losses of a later step have paths in the source of that step,
/// in which the value can have another place.
fn is_recorded((from, to): (Revision, Revision), name: &str, value: &Value, at: &Path, losses: &[Loss]) -> bool {
    let is_about = |loss: &Loss| touches(&loss.path.to_string(), &at.to_string());
    if losses.iter().any(is_about) {
        return true;
    }
    let [position, end] = [from, to].map(|revision| Revision::ALL.iter().position(|other| *other == revision).unwrap());
    let next = Revision::ALL[if position < end { position + 1 } else { position - 1 }];
    let at_next = |value: &Value| translated((from, next), name, value, Policy::Conform);
    let (Ok((there, at_next_with)), Ok((_, at_next_without))) =
        (at_next(value), at_next(&without(value, at.segments())))
    else {
        return false;
    };
    let Ok((onward, _)) = translated((next, to), there.definition, &at_next_with, Policy::Conform) else {
        return false;
    };
    let places = differences(&at_next_with, &at_next_without);
    let mut recorded = places
        .iter()
        .map(|at| is_recorded((next, to), there.definition, &at_next_with, at, &onward.losses));
    next != to && !places.is_empty() && recorded.all(|is_recorded| is_recorded)
}

fn settle(what: &str, counts: &BTreeMap<(Revision, Revision), [usize; 2]>, failures: &[String]) {
    for ((from, to), [good, refused]) in counts {
        println!("{what}: {from} to {to}: {good} values, {refused} refused");
        assert!(*good > 100, "too little was tested: {from} to {to}");
    }
    let shown: Vec<&str> = failures.iter().map(String::as_str).take(20).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
}

#[test]
fn converted_values_are_valid_in_the_target_revision() {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    let mut failures = Vec::new();
    for pair in pairs() {
        for (name, value) in valid_instances(pair.0) {
            let count = counts.entry(pair).or_default();
            let Ok((translation, converted)) = translated(pair, name, value, Policy::Conform) else {
                count[1] += 1;
                continue;
            };
            count[0] += 1;
            if !is_valid(corrected(pair.1), translation.definition, &converted) {
                failures.push(format!("{pair:?} {name}: {value} became {converted}"));
            }
        }
    }
    settle("valid", &counts, &failures);
}

#[test]
fn a_round_trip_changes_exactly_the_values_at_recorded_losses() {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    let mut failures = Vec::new();
    for (from, to) in pairs() {
        for (name, value) in valid_instances(from) {
            let count = counts.entry((from, to)).or_default();
            let Ok((there, converted)) = translated((from, to), name, value, Policy::Conform) else {
                count[1] += 1;
                continue;
            };
            let (back, original) = match returned((from, to), &there, &converted, Policy::Conform) {
                Ok(back) => back,
                Err(error) => {
                    failures.push(format!(
                        "{from} {name} can't be translated back from {to}: {error}: {value}"
                    ));
                    continue;
                }
            };
            count[0] += 1;
            let differences = differences(value, &original);
            for difference in &differences {
                let lost_on_the_way_back = |loss: &Loss| touches(&loss.path.to_string(), &difference.to_string());
                if !is_recorded((from, to), name, value, difference, &there.losses)
                    && !back.losses.iter().any(lost_on_the_way_back)
                {
                    failures.push(format!(
                        "{from} {name} by {to}: {difference} was lost without a record: {value}"
                    ));
                }
            }
            for loss in &there.losses {
                let lost = loss.path.to_string();
                // A member that a step has renamed or added has its new name in the path.
                let is_lost = match has(value, loss.path.segments()) {
                    true => differences
                        .iter()
                        .any(|difference| touches(&lost, &difference.to_string())),
                    false => loss.kind != LossKind::Defaulted || !differences.is_empty(),
                };
                if !is_lost {
                    failures.push(format!("{from} {name} by {to}: {lost} was not lost: {value}"));
                }
            }
        }
    }
    settle("there and back", &counts, &failures);
}

#[test]
fn an_upgrade_followed_by_a_downgrade_restores_the_original_or_records_a_loss() {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    let mut failures = Vec::new();
    for (from, to) in pairs().filter(|(from, to)| from < to) {
        for (name, value) in valid_instances(from) {
            let count = counts.entry((from, to)).or_default();
            let Ok((there, converted)) = translated((from, to), name, value, Policy::Conform) else {
                count[1] += 1;
                continue;
            };
            count[0] += 1;
            match returned((from, to), &there, &converted, Policy::Conform) {
                Ok((_, original)) if there.losses.is_empty() && same(value, &original) => {}
                // A later revision can lack a member that an earlier one declares.
                Ok(_) if !there.losses.is_empty() => {}
                Ok((_, original)) => failures.push(format!("{from} {name} by {to}: {value} came back as {original}")),
                Err(error) => failures.push(format!("{from} {name} by {to}: {error}: {value}")),
            }
        }
    }
    settle("up and down", &counts, &failures);
}

#[test]
fn carried_values_survive_the_round_trip_or_a_loss_is_recorded() {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    let mut failures = Vec::new();
    for (from, to) in pairs() {
        for (name, value) in valid_instances(from) {
            let count = counts.entry((from, to)).or_default();
            let Ok((there, converted)) = translated((from, to), name, value, Policy::Carry) else {
                count[1] += 1;
                continue;
            };
            count[0] += 1;
            match returned((from, to), &there, &converted, Policy::Carry) {
                Ok((_, original)) if same(value, &original) => {}
                // Rules record the values that they replace under this policy, too.
                Ok((back, _)) if !there.losses.is_empty() || !back.losses.is_empty() => {}
                Ok((_, original)) => failures.push(format!("{from} {name} by {to}: {value} came back as {original}")),
                Err(error) => failures.push(format!("{from} {name} by {to}: {error}: {value}")),
            }
        }
    }
    settle("carried", &counts, &failures);
}

#[test]
fn conversions_of_text_and_of_parsed_trees_give_the_same_result() {
    let mut failures = Vec::new();
    let mut compared = 0;
    for (pair, policy) in pairs().flat_map(|pair| [(pair, Policy::Conform), (pair, Policy::Carry)]) {
        let conversion = Conversion::new(policy).supplied_with(supply(pair));
        for (name, value) in valid_instances(pair.0) {
            let mut values = vec![value.clone()];
            if value.get("resultType").is_some() {
                // The value that earlier revisions imply; random strings differ from it.
                let mut complete = value.clone();
                complete["resultType"] = json!("complete");
                values.push(complete);
            }
            for value in values {
                compared += 1;
                failures.extend(compare_by_trees(pair, name, value.to_string().as_bytes(), &conversion).err());
            }
        }
    }
    assert!(compared > 10_000 && failures.is_empty(), "{}", failures.join("\n"));
}

/// The second time, parts of a result are compared with cached ones instead of being read.
#[test]
fn a_result_sent_again_is_converted_like_the_first_time() {
    let methods = BTreeMap::from([
        ("CallToolResult", "tools/call"),
        ("GetPromptResult", "prompts/get"),
        ("ListResourcesResult", "resources/list"),
        ("ListToolsResult", "tools/list"),
    ]);
    // Earlier revisions don't allow these values in the schemas of tools, which random instances don't have.
    let tools = json!({
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "tools": [
            {"name": "plain", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
            {"name": "boolean", "inputSchema": {"type": "object", "properties": {"text": true}}},
            {"name": "dialect", "inputSchema": {"type": "object", "$schema": 5}},
        ],
    });
    let (mut compared, mut lost) = (0, 0);
    for (name, value) in valid_instances(Revision::HUB)
        .iter()
        .chain([&("ListToolsResult", tools)])
    {
        let Some(method) = methods.get(name) else { continue };
        let read = peers::server_result(Revision::HUB, method, &value.into(), Policy::Conform.into());
        let result = read.unwrap().expect("the hub has the method").result;
        for (peer, policy) in Revision::ALL
            .into_iter()
            .flat_map(|peer| [(peer, Policy::Conform), (peer, Policy::Carry)])
        {
            let conversion = Conversion::new(policy);
            let [tree, first, second] = [conversion.clone().by_trees(), conversion.clone(), conversion].map(|way| {
                let (json, losses) = peers::server_result_for(peer, &result, way).map_err(|error| error.to_string())?;
                let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
                Ok::<_, String>((json, losses))
            });
            assert_eq!(tree, first, "{peer} {value}");
            assert_eq!(first, second, "{peer} {value}");
            compared += 1;
            lost += usize::from(first.is_ok_and(|(_, losses)| !losses.is_empty()));
        }
    }
    assert!(compared > 500 && lost > 0, "{compared} compared, {lost} with losses");
}

#[test]
fn converting_across_several_revisions_equals_converting_step_by_step() {
    let mut failures = Vec::new();
    let mut compared = 0;
    let [first, .., last] = Revision::ALL;
    for upward in [true, false] {
        let (from, to) = if upward { (first, last) } else { (last, first) };
        let mut way = Revision::ALL.to_vec();
        if !upward {
            way.reverse();
        }
        for (name, value) in valid_instances(from) {
            let whole = translated((from, to), name, value, Policy::Conform);
            let mut step: Result<(&str, Value, Supply), TranslateError> = Ok((name, value.clone(), supply((from, to))));
            for pair in way.windows(2) {
                step = step.and_then(|(name, value, known)| {
                    let (translation, value) = supplied((pair[0], pair[1]), name, &value, Policy::Conform, known)?;
                    Ok((translation.definition, value, translation.supply.unwrap_or_default()))
                });
            }
            compared += 1;
            match (whole, step) {
                (Ok((_, whole)), Ok((_, steps, _))) if same(&whole, &steps) => {}
                (Err(whole), Err(steps)) if whole.code() == steps.code() => {}
                (whole, steps) => failures.push(format!("{from} {name}: {value}: {whole:?} or {steps:?}")),
            }
        }
    }
    println!("chains: {compared} compared");
    assert!(compared > 1000 && failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether a converted value still has everything of the original. The other revision can have further members, and an
/// object in place of null.
fn is_kept(value: &Value, converted: &Value) -> bool {
    match (value, converted) {
        (Value::Object(members), Value::Object(others)) => members
            .iter()
            .all(|(name, value)| others.get(name).is_some_and(|other| is_kept(value, other))),
        (Value::Null, Value::Object(_)) => true,
        _ => same(value, converted),
    }
}

/// Whether a value is another one, or is inside it.
fn holds(value: &Value, other: &Value) -> bool {
    value == other
        || match value {
            Value::Object(members) => members.values().any(|value| holds(value, other)),
            Value::Array(elements) => elements.iter().any(|value| holds(value, other)),
            _ => false,
        }
}

/// Most important for constants: the generated types keep a wrong value of a constant.
#[test]
fn an_invalid_member_is_kept_or_refused_or_its_loss_is_recorded() {
    let mut counts: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    let mut failures = Vec::new();
    for ((from, to), policy) in pairs().flat_map(|pair| [(pair, Policy::Conform), (pair, Policy::Carry)]) {
        let mut tried = BTreeMap::new();
        for (name, value) in valid_instances(from) {
            for member in value.as_object().into_iter().flat_map(|members| members.keys()) {
                let times: &mut usize = tried.entry((name, member.clone())).or_default();
                *times += 1;
                if *times > 1 {
                    continue;
                }
                for wrong in [json!("weird"), json!(null), json!({})] {
                    let mut value = value.clone();
                    value[member] = wrong;
                    let count = counts.entry((from, to)).or_default();
                    let Ok((there, converted)) = translated((from, to), name, &value, policy) else {
                        count[1] += 1;
                        continue;
                    };
                    count[0] += 1;
                    let paths = || {
                        there
                            .losses
                            .iter()
                            .map(|loss| (loss.path.to_string(), loss.kind.as_str()))
                    };
                    let at = path_to(member);
                    let mut known = there.supply.iter().flat_map(Supply::iter);
                    if known.any(|(_, known)| *known == RawJson::from(&value[member])) {
                        continue;
                    }
                    let is_moved = value[member] == json!("weird") && holds(&converted, &value[member]);
                    let is_kept = is_moved || is_kept(&value[member], &converted[member]);
                    if !is_kept && !paths().any(|(path, _)| touches(&path, &at)) {
                        failures.push(format!(
                            "{from} {name} by {to}: {member} was lost without a record: {value}"
                        ));
                    }
                    if paths().any(|loss| loss == (at.clone(), "dropped")) && converted.get(member).is_some() {
                        failures.push(format!("{from} {name} by {to}: {member} is still there: {converted}"));
                    }
                }
            }
        }
    }
    settle("wrong members", &counts, &failures);
}

/// Returns the error codes of a revision: those of JSON-RPC, and its own.
fn error_codes(revision: Revision) -> Vec<i64> {
    let own = match revision.facts().initializes {
        true => [-32002, -32042, -1],
        false => [-32020, -32021, -32022],
    };
    own.into_iter().chain([-32700]).chain(-32603..=-32600).collect()
}

#[test]
fn error_codes_are_restored_if_carried_and_otherwise_restored_or_a_loss_is_recorded() {
    let (mut changed, mut lost) = (0, 0);
    for (from, to) in pairs() {
        let methods = from.methods().iter().map(|method| Some(method.name)).chain([None]);
        for method in methods.filter(|name| name.is_none_or(|name| to.method(name).is_some())) {
            for code in error_codes(from) {
                // In a revision without a handshake, this error with a URI means that there is no such resource,
                // regardless of its origin.
                let says_more =
                    code == -32602 && method == Some("resources/read") && from < to && !to.facts().initializes;
                let uri = (!says_more).then(|| json!({"uri": "test://a"}));
                for data in [None, Some(json!({})), uri] {
                    let mut error = ErrorObject::new(code, "no");
                    error.data = data.map(RawJson::from);
                    for policy in [Policy::Conform, Policy::Carry] {
                        let (there, losses) = translate_error(from, to, method, error.clone(), policy);
                        changed += usize::from(there.code != code);
                        lost += losses.len();
                        let (back, _) = translate_error(to, from, method, there, policy);
                        let restored = back == error;
                        assert!(
                            restored || !losses.is_empty(),
                            "{from} {to} {method:?}: {error:?} became {back:?}"
                        );
                        assert!(
                            restored || policy == Policy::Conform,
                            "{from} {to} {method:?}: {error:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(changed > 0 && lost > 0, "{changed} codes changed, and {lost} were lost");
}
