//! Mutants: valid values with one change.

use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::rng::{Choice, Rng};

/// The number of changes that are tried to find one that the schema refuses.
const TRIES: usize = 5;

/// The maximum length of an array or string that is made to exceed a bound.
const MAX_LENGTH: usize = 300;

/// A way to change a value at a location.
type Mutation = fn(&mut Value, &mut Mutator<'_>) -> Option<()>;

const MUTATIONS: [Mutation; 10] = [
    drop_member,
    drop_member,
    rename_member,
    change_type,
    nullify,
    empty_into_array,
    exceed,
    alter_text,
    lengthen,
    shorten,
];

/// Makes mutants.
pub(crate) struct Mutator<'a> {
    rng: &'a mut Rng,
    location: &'a Value,
    /// A length that exceeds all bounds of lengths in the document, up to [`MAX_LENGTH`].
    too_long: usize,
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(document: &'a Document, rng: &'a mut Rng) -> Self {
        let too_long = document.longest().saturating_add(1).min(MAX_LENGTH);
        Self {
            rng,
            location: document.root(),
            too_long,
        }
    }

    /// Makes a mutant of one of the originals, or of `null` if there are none, and returns whether it is accepted. One
    /// that is refused is preferred; if none is found soon, it returns one that is still accepted.
    pub(crate) fn mutant(&mut self, originals: &[Value], accepts: impl Fn(&Value) -> bool) -> Option<(Value, bool)> {
        let mut mutant = None;
        for _ in 0..TRIES {
            let original = self.rng.pick(originals).cloned().unwrap_or_default();
            let Some(changed) = self.change(original) else {
                continue;
            };
            if !accepts(&changed) {
                return Some((changed, false));
            }
            mutant = Some((changed, true));
        }
        mutant
    }

    fn change(&mut self, mut value: Value) -> Option<Value> {
        let mutation = MUTATIONS[self.rng.deal(Choice::Mutation, self.location, MUTATIONS.len())];
        let mut pointers = Vec::new();
        collect(&value, &mut String::new(), &mut pointers);
        // Not every change applies at every location, so try locations until one does.
        for _ in 0..pointers.len() {
            let pointer = self.rng.pick(&pointers)?;
            if mutation(value.pointer_mut(pointer)?, self).is_some() {
                return Some(value);
            }
        }
        None
    }

    fn other_type(&mut self, value: &Value) -> Option<Value> {
        let others = of_every_type();
        let others: Vec<Value> = others
            .into_iter()
            .filter(|other| std::mem::discriminant(other) != std::mem::discriminant(value))
            .collect();
        self.rng.pick(&others).cloned()
    }
}

/// Returns values of each type that are unlikely to occur in a schema.
pub(crate) fn of_every_type() -> [Value; 8] {
    [
        json!("zzz"),
        json!(12_345),
        json!(-1.5),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!({ "zz": 1 }),
    ]
}

fn drop_member(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let members = value.as_object_mut()?;
    let name = any_name(members, mutator)?;
    members.remove(&name).map(drop)
}

fn rename_member(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let members = value.as_object_mut()?;
    let name = any_name(members, mutator)?;
    let member = members.remove(&name)?;
    members.insert(format!("{name}z"), member);
    Some(())
}

fn change_type(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    *value = mutator.other_type(value)?;
    Some(())
}

fn nullify(value: &mut Value, _: &mut Mutator<'_>) -> Option<()> {
    (!value.take().is_null()).then_some(())
}

/// Replaces an object by an array, as languages that don't distinguish the two do.
fn empty_into_array(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let members = value.as_object()?;
    let values: Vec<Value> = if mutator.rng.once_in(2) {
        members.values().cloned().collect()
    } else {
        Vec::new()
    };
    *value = json!(values);
    Some(())
}

/// Changes a number so that it exceeds its bounds, or is no longer an integer.
fn exceed(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let others = match value.as_i64() {
        Some(integer) => {
            let (over, under) = (integer.saturating_add(1_000_000), integer.saturating_sub(1_000_000));
            let mut others = vec![json!(over), json!(under), json!(-1 - integer)];
            // Beyond 2^53 the half is lost by rounding, and the result can be an integer beyond `i64`.
            let half = integer as f64 + 0.5;
            if half.fract() != 0.0 {
                others.push(json!(half));
            }
            others
        }
        None => {
            let number = value.as_f64()?;
            vec![json!(number + 1e6), json!(number - 1e6), json!(-1.0 - number)]
        }
    };
    *value = mutator.rng.pick(&others)?.clone();
    Some(())
}

/// Changes a text, so that it is no longer a constant, a listed value, or of a required format.
fn alter_text(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let text = value.as_str()?;
    let others = [format!("{text}z"), text.to_uppercase(), text.chars().skip(1).collect()];
    let others: Vec<&String> = others.iter().filter(|other| *other != text).collect();
    *value = json!(mutator.rng.pick(&others)?);
    Some(())
}

/// Makes an array or a string longer than all bounds in the document.
fn lengthen(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    match value {
        Value::Array(items) => {
            let item = items.last()?.clone();
            items.resize(mutator.too_long.max(items.len() + 1), item);
        }
        Value::String(text) => *text = "z".repeat(mutator.too_long.max(text.chars().count() + 1)),
        _ => return None,
    }
    Some(())
}

/// Removes the end of an array or a string, or all of it.
fn shorten(value: &mut Value, mutator: &mut Mutator<'_>) -> Option<()> {
    let wholly = mutator.rng.once_in(2);
    match value {
        Value::Array(items) if wholly => items.clear(),
        Value::Array(items) => items.pop().map(drop)?,
        Value::String(text) if wholly => text.clear(),
        Value::String(text) => text.pop().map(drop)?,
        _ => return None,
    }
    Some(())
}

fn any_name(members: &Map<String, Value>, mutator: &mut Mutator<'_>) -> Option<String> {
    let names: Vec<&String> = members.keys().collect();
    mutator.rng.pick(&names).map(|&name| name.clone())
}

/// Lists the pointers of a value and of all values in it.
fn collect(value: &Value, at: &mut String, pointers: &mut Vec<String>) {
    pointers.push(at.clone());
    let length = at.len();
    let mut within = |key: &str, inner: &Value| {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        collect(inner, at, pointers);
        at.truncate(length);
    };
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, item)| within(&index.to_string(), item)),
        Value::Object(members) => members.iter().for_each(|(name, member)| within(name, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
