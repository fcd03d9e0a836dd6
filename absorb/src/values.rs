//! Tests values: they must survive a round trip unchanged, and a translation must be valid and must not lose anything
//! silently.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_codegen::RevisionTable;
use mcp_convert::{
    Conversion, LossKind, Policy, ProtocolRevision as _, Supply, TranslateError, Translation, translatable, translate,
    validate_definition,
};
use mcp_instances::{Instances, fragment};
use mcp_json_schema::{change_schemas, pointer};
use mcp_wire::{Path, RawJson};
use serde_json::{Value, json};

use crate::Outcome;
use crate::base::Base;
use crate::edit::definitions;
use crate::revision::{Place, load};

/// The number of tested instances of each definition. About half of them are valid.
const COUNT: usize = 8;

/// The number of definitions that are tested in addition to the edited ones, of each kind.
const OTHERS: usize = 16;

/// A cache of the validators and instances of official schemas, which are the same in every trial.
static OFFICIAL: Mutex<BTreeMap<String, Arc<Made>>> = Mutex::new(BTreeMap::new());

/// A schema, and the valid instances of its definitions that were made so far.
struct Made {
    instances: Instances,
    valid: Mutex<BTreeMap<String, Arc<[Value]>>>,
}

impl Made {
    /// Returns valid instances of a definition.
    fn valid(&self, definition: &str) -> Arc<[Value]> {
        let mut known = self.valid.lock().unwrap_or_else(PoisonError::into_inner);
        let made = known.entry(definition.to_owned()).or_insert_with(|| {
            let made = self.instances.of(definition, 7, COUNT).into_iter();
            made.filter(|made| made.valid).map(|made| made.value).collect()
        });
        Arc::clone(made)
    }
}

struct Values {
    instances: BTreeMap<usize, Arc<Made>>,
    definitions: BTreeSet<String>,
}

/// Valid instances of definitions, by the name of the definition.
type Valid = [(&'static str, Arc<[Value]>)];

/// The tested revision.
pub(crate) struct Subject<'s> {
    pub(crate) revision: &'s str,
    pub(crate) position: usize,
    /// The revision that it was made from. If there is one, mainly the definitions that differ from it are tested.
    pub(crate) base: Option<&'s Base>,
    pub(crate) schema: &'s Value,
    /// The hub.
    pub(crate) hub: Option<&'s str>,
}

/// Tests a revision with its own values and those of others.
pub(crate) fn check(tables: &[RevisionTable], subject: Subject<'_>, outcome: &mut Outcome) {
    let position = subject.position;
    load(tables);
    let made_up = Place(position);
    for place in Place::revisions() {
        if let Err(error) = Place::protocol().table(place.0) {
            return outcome.fail(error.to_string());
        }
    }
    let hub = tables.iter().position(|table| Some(&*table.revision) == subject.hub);
    let places = [position.checked_sub(1), Some(position + 1), hub];
    let others: BTreeSet<usize> = places
        .into_iter()
        .flatten()
        .filter(|place| *place < tables.len() && *place != position)
        .collect();
    let mut instances = BTreeMap::new();
    for place in others.iter().chain([&position]) {
        match instances_of(&tables[*place], &subject) {
            Ok(made) => drop(instances.insert(*place, made)),
            Err(error) => {
                return outcome.fail(format!("no instances of {}: {error}", tables[*place].revision));
            }
        }
    }
    let values = Values {
        definitions: subject.chosen(),
        instances,
    };
    let own = values.valid(made_up);
    values.come_back(made_up, &own, outcome);
    for other in others {
        let other = Place(other);
        values.translate((made_up, &own), other, outcome);
        values.translate((other, &values.valid(other)), made_up, outcome);
    }
}

fn instances_of(table: &RevisionTable, subject: &Subject<'_>) -> Result<Arc<Made>, String> {
    let made = || -> Result<Arc<Made>, String> {
        let mut schema: Value = serde_json::from_str(&table.schema).map_err(|error| error.to_string())?;
        change_schemas(&mut schema, &mut |schema| {
            if let Some(Value::String(reference)) = schema.get_mut("$ref")
                && let Some(pointer) = pointer::canonical(reference)
            {
                *reference = format!("#{}", fragment(&pointer[1..]));
            }
        });
        let instances = Instances::new(&schema).map_err(|error| error.to_string())?;
        let valid = Mutex::default();
        Ok(Arc::new(Made { instances, valid }))
    };
    let is_edited = |base: &Base| base.edited.is_some() && table.revision == base.revision;
    if table.revision == subject.revision || subject.base.is_some_and(is_edited) {
        return made();
    }
    let mut official = OFFICIAL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = official.get(&table.revision) {
        return Ok(Arc::clone(found));
    }
    let made = made()?;
    official.insert(table.revision.clone(), Arc::clone(&made));
    Ok(made)
}

impl Subject<'_> {
    /// Returns the edited definitions, those that refer to them, and some others; all, if there is no base.
    fn chosen(&self) -> BTreeSet<String> {
        let (_, after) = definitions(self.schema);
        let after = after.into_iter().flatten();
        let Some((_, Some(before))) = self.base.map(|base| definitions(&base.official)) else {
            return after.map(|(name, _)| name.clone()).collect();
        };
        let now: BTreeMap<&String, &Value> = after.collect();
        let is_edited = |name: &&String| before.get(*name) != now.get(*name).copied();
        let edited: Vec<&String> = before.keys().chain(now.keys().copied()).filter(is_edited).collect();
        let ends: Vec<String> = edited.iter().map(|name| format!("/{name}\"")).collect();
        let refers = |schema: &Value| {
            let text = schema.to_string();
            ends.iter().any(|end| text.contains(end))
        };
        let referring = now.iter().filter(|(_, schema)| refers(schema)).map(|(name, _)| *name);
        let every_seventh = now.keys().skip(edited.len() % 7).step_by(7).copied();
        let chosen = edited
            .iter()
            .copied()
            .chain(referring.take(OTHERS))
            .chain(every_seventh.take(OTHERS));
        chosen.cloned().collect()
    }
}

impl Values {
    /// Returns valid instances of the chosen definitions.
    fn valid(&self, of: Place) -> Box<Valid> {
        let made = &self.instances[&of.0];
        let known: BTreeSet<&str> = made.instances.definitions().collect();
        let chosen = translatable(of).filter(|name| self.definitions.contains(*name) && known.contains(name));
        chosen.map(|name| (name, made.valid(name))).collect()
    }

    fn come_back(&self, of: Place, values: &Valid, outcome: &mut Outcome) {
        for (name, value) in each(values) {
            outcome.instances += 1;
            let translated = guarded(of, of, name, &value.to_string(), Policy::Conform.into());
            match translated.and_then(with_value) {
                Ok((_, back)) if same(value, &back) => {}
                Ok((_, back)) => outcome.fail(format!("{name} changed in the round trip: {value} became {back}")),
                Err(why) => outcome.fail(format!("{name} is valid, but refused: {}: {value}", why.text())),
            }
        }
    }

    fn translate(&self, (from, values): (Place, &Valid), to: Place, outcome: &mut Outcome) {
        for (name, value) in each(values) {
            outcome.instances += 1;
            let way = format!("{name} of {from} in {to}");
            let conversion = Conversion::new(Policy::Conform).supplied_with(supply(from, to));
            let json = value.to_string();
            let translated = guarded(from, to, name, &json, conversion.clone());
            let by_trees = guarded(from, to, name, &json, conversion.by_trees());
            if outcome_of(&translated) != outcome_of(&by_trees) {
                outcome.fail(format!("{way} has another outcome when converted by trees: {value}"));
            }
            let (there, converted) = match translated.and_then(with_value) {
                Ok(there) => there,
                Err(Why::Refused(_)) => {
                    outcome.refusals += 1;
                    continue;
                }
                Err(why) => {
                    outcome.fail(format!("{way}: {}: {value}", why.text()));
                    continue;
                }
            };
            outcome.translations += 1;
            if !self.is_valid(to, there.definition, &converted) {
                let why = violations(to, there.definition, &converted);
                outcome.fail(format!("{way} is invalid: {why}: {value} became {converted}"));
            }
            let known = there.supply.clone().unwrap_or_default();
            let back = Conversion::new(Policy::Conform).supplied_with(known);
            let returned = guarded(to, from, there.definition, there.value.text(), back);
            match returned.and_then(with_value) {
                // Several definitions of one revision can become the same one, which comes back as only one of them.
                Ok((back, _)) if back.definition != name => {}
                Ok((back, original)) => {
                    let losses = there.losses.iter().chain(&back.losses);
                    // A value and the only element of the list that one step makes of it have different paths.
                    let place = |path: &str| path.replace("[0]", "");
                    let lost: Vec<_> = losses.map(|loss| (loss.kind, place(&loss.path.to_string()))).collect();
                    let silent = differences(value, &original).into_iter();
                    let silent =
                        silent.filter(|path| !lost.iter().any(|(kind, lost)| touches(*kind, lost, &place(path))));
                    outcome.failures.extend(silent.map(|path| {
                        format!("{way}: {path} was lost silently: {value} became {converted} and then {original}")
                    }));
                }
                // The first revision can require a value that was dropped, or give another meaning to a converted one.
                Err(Why::Refused(_)) => {}
                Err(why) => {
                    let why = why.text();
                    outcome.fail(format!(
                        "{way} can't be converted back: {why}: {value} became {converted}"
                    ));
                }
            }
        }
    }

    /// Whether the official schema accepts a value, either as it is, or with the envelope that some revisions leave
    /// out.
    fn is_valid(&self, revision: Place, name: &str, value: &Value) -> bool {
        let schema = &self.instances[&revision.0].instances;
        if schema.accepts(name, value).unwrap_or(true) {
            return true;
        }
        let mut enveloped = value.clone();
        if let Some(message) = enveloped
            .as_object_mut()
            .filter(|message| message.contains_key("method"))
        {
            message.entry("jsonrpc").or_insert_with(|| json!("2.0"));
            message.entry("id").or_insert_with(|| json!(1));
        }
        schema.accepts(name, &enveloped).unwrap_or(true)
    }
}

/// Returns each instance with the name of its definition.
fn each(valid: &Valid) -> impl Iterator<Item = (&'static str, &Value)> {
    let each = valid.iter();
    each.flat_map(|(name, values)| values.iter().map(move |value| (*name, value)))
}

/// Returns the violations that our validator reports for a value that the other validator refuses.
fn violations(revision: Place, definition: &str, value: &Value) -> String {
    match validate_definition(revision, definition, &value.to_string()) {
        Some(Err(invalid)) => invalid.to_string(),
        _ => "our validator accepts it".to_owned(),
    }
}

/// The reason why a value wasn't translated.
enum Why {
    Panicked,
    Refused(String),
    Invalid(String),
}

impl Why {
    fn text(&self) -> &str {
        match self {
            Self::Panicked => "panicked",
            Self::Refused(why) | Self::Invalid(why) => why,
        }
    }
}

/// Returns the translated value and its losses, or the reason why it wasn't translated.
fn outcome_of(translated: &Result<Translation, Why>) -> Result<(&str, Vec<String>), &str> {
    match translated {
        Ok(there) => Ok((
            there.value.text(),
            there.losses.iter().map(ToString::to_string).collect(),
        )),
        Err(why) => Err(why.text()),
    }
}

fn guarded(from: Place, to: Place, name: &str, json: &str, conversion: Conversion<Place>) -> Result<Translation, Why> {
    let translated = catch_unwind(AssertUnwindSafe(|| {
        translate(from, to, name, json.as_bytes(), conversion)
    }));
    translated.map_err(|_| Why::Panicked)?.map_err(|error| match error {
        TranslateError::Invalid(error) => Why::Invalid(format!("considered invalid: {error}")),
        error => Why::Refused(error.to_string()),
    })
}

fn with_value(translation: Translation) -> Result<(Translation, Value), Why> {
    let value = serde_json::from_str(translation.value.text());
    let value = value.map_err(|error| Why::Invalid(error.to_string()))?;
    Ok((translation, value))
}

/// Returns the values that a session between these revisions would supply for a conversion.
fn supply(from: Place, to: Place) -> Supply {
    let known = match from < to {
        true => json!({"meta.version": to.to_string(), "meta.capabilities": {}}),
        false => json!({"elicitation": "1"}),
    };
    let known = known.as_object().into_iter().flatten();
    known.map(|(key, value)| (key.clone(), RawJson::from(value))).collect()
}

/// Whether two values are equal as JSON; `1` and `1.0` are equal.
fn same(one: &Value, other: &Value) -> bool {
    differences(one, other).is_empty()
}

/// Returns the paths at which two values differ, in the format of losses.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    fn walk(one: &Value, other: &Value, path: &mut Path, found: &mut Vec<String>) {
        match (one, other) {
            (Value::Object(members), Value::Object(others)) => {
                let names: BTreeSet<&String> = members.keys().chain(others.keys()).collect();
                for name in names {
                    path.push_member(name.as_str());
                    match (members.get(name), others.get(name)) {
                        (Some(one), Some(other)) => walk(one, other, path, found),
                        // Of an object that was added, each value was.
                        (None, Some(other)) if other.as_object().is_some_and(|added| !added.is_empty()) => {
                            walk(&json!({}), other, path, found);
                        }
                        _ => found.push(path.to_string()),
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
            (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => {}
            _ if one == other => {}
            _ => found.push(path.to_string()),
        }
    }
    let mut found = Vec::new();
    walk(one, other, &mut Path::default(), &mut found);
    found
}

/// Whether a loss is about a value: one path is a prefix of the other, or the value was added to another place.
fn touches(kind: LossKind, lost: &str, value: &str) -> bool {
    let leads = |one: &str, other: &str| {
        let rest = other.strip_prefix(one);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let is_added = || kind == LossKind::Defaulted && value.rsplit('.').next() == lost.rsplit('.').next();
    lost == "(root)" || value == "(root)" || leads(lost, value) || leads(value, lost) || is_added()
}
