//! Helpers that the tests of the generated crates share.

pub mod fuzz;
pub mod made_up;

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use mcp_adapters::mcp_wire::Definition;
use mcp_adapters::{Conversion, Revision, translate};
use mcp_codegen::load::load_document;
use mcp_codegen::overlay::{Overlay, apply_overlay};
use mcp_instances::Instances;
use serde_json::Value;

#[cfg(doctest)]
mod book;

/// Returns a path relative to the root of the workspace.
#[must_use]
pub fn workspace(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path)
}

/// A value for each revision, made on first use and shared by all tests of a process.
pub struct OfEach<T>([OnceLock<T>; Revision::ALL.len()]);

impl<T> OfEach<T> {
    /// Creates it without values.
    #[must_use]
    pub const fn new() -> Self {
        Self([const { OnceLock::new() }; Revision::ALL.len()])
    }

    /// Returns the value for a revision, which `make` makes on first use.
    ///
    /// # Panics
    /// If `make` panics, or the revision isn't in `Revision::ALL`.
    pub fn get(&self, revision: Revision, make: impl FnOnce() -> T) -> &T {
        let index = Revision::ALL.iter().position(|known| *known == revision);
        self.0[index.expect("the revision is in Revision::ALL")].get_or_init(make)
    }
}

impl<T> Default for OfEach<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a generator of random instances of a revision's corrected schema. Messages have a JSON-RPC envelope if the
/// schema declares it.
///
/// # Panics
/// If the schema or the overlay is invalid, which the generator's own tests rule out.
#[must_use]
pub fn corrected(revision: Revision) -> &'static Instances {
    static CORRECTED: OfEach<Instances> = OfEach::new();
    CORRECTED.get(revision, || Instances::new(&schema(revision)).unwrap())
}

/// Returns a revision's schema, as its overlay corrects it.
///
/// # Panics
/// If the schema or the overlay is invalid, which the generator's own tests rule out.
#[must_use]
pub fn schema(revision: Revision) -> Value {
    let directory = workspace("schema").join(revision.as_str());
    let schema = load_document(&directory.join("schema.json")).unwrap();
    let corrected = apply_overlay(
        &schema,
        &Overlay::of(load_document(&directory.join("overlay.yaml")).unwrap()).unwrap(),
    )
    .unwrap();
    corrected.root().clone()
}

/// Whether two values are the same JSON; `1` and `1.0` are the same number.
#[must_use]
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64() && !(one.is_i64() && other.is_i64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same_member = |(name, value)| other.get(name).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(same_member)
        }
        _ => one == other,
    }
}

/// Compares two translations of a value: one that keeps its text as far as possible, and one that parses it into a
/// tree.
///
/// # Errors
/// Both results, if they differ.
pub fn compare_by_trees(
    (from, to): (Revision, Revision),
    name: &str,
    json: &[u8],
    conversion: &Conversion,
) -> Result<(), String> {
    let [kept, tree] = [conversion.clone(), conversion.clone().by_trees()].map(|conversion| {
        let translation = translate(from, to, name, json, conversion).map_err(|error| error.to_string())?;
        let losses: Vec<String> = translation.losses.iter().map(ToString::to_string).collect();
        Ok::<_, String>((translation.definition, translation.value, losses))
    });
    match kept == tree {
        true => Ok(()),
        false => Err(format!("{from} {name} to {to}: {kept:?}, but as a tree {tree:?}")),
    }
}

/// Returns a definition of a revision by its name in the schema.
#[must_use]
pub fn definition(revision: Revision, name: &str) -> Option<&'static Definition> {
    revision.definitions().iter().find(|definition| definition.name == name)
}

/// Results of decoding, validating and encoding instances of a schema's definitions.
#[derive(Debug)]
pub struct Tally {
    name: &'static str,
    definitions: &'static [Definition],
    kept: usize,
    refused: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Creates an empty tally for a revision.
    #[must_use]
    pub fn new(revision: Revision) -> Self {
        Self::of(revision.as_str(), revision.definitions())
    }

    /// Creates an empty tally for a schema with these definitions.
    #[must_use]
    pub fn of(name: &'static str, definitions: &'static [Definition]) -> Self {
        Self {
            name,
            definitions,
            kept: 0,
            refused: 0,
            failures: Vec::new(),
        }
    }

    /// Decodes and validates a value as an instance of a definition. A valid value must survive the round trip; an
    /// invalid one must be refused.
    pub fn add(&mut self, name: &str, value: &Value, valid: bool) {
        match (round_trip(self.definitions, name, value), valid) {
            (Ok(()), true) => self.kept += 1,
            (Err(Refusal::Decode(_) | Refusal::Validate(_)), false) => self.refused += 1,
            (Ok(()), false) => self.fail(name, value, "an invalid value was accepted"),
            (Err(refusal), _) => self.fail(name, value, &refusal.to_string()),
        }
    }

    fn fail(&mut self, name: &str, value: &Value, what: &str) {
        self.failures.push(format!("{} {name}: {what}: {value}", self.name));
    }

    /// Prints the counts.
    ///
    /// # Panics
    /// If there are failures, or if no valid or no invalid value was added.
    pub fn settle(self) {
        println!(
            "{}: {} valid values kept, {} invalid ones refused, {} failures",
            self.name,
            self.kept,
            self.refused,
            self.failures.len()
        );
        let shown: Vec<&str> = self.failures.iter().map(String::as_str).take(40).collect();
        assert!(self.failures.is_empty(), "{}", shown.join("\n"));
        assert!(self.kept > 0 && self.refused > 0, "nothing was tested");
    }
}

/// The reason why a value didn't survive the round trip.
#[derive(Debug)]
enum Refusal {
    NoDefinition,
    Decode(String),
    Validate(String),
    Changed(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDefinition => f.write_str("there is no such definition"),
            Self::Decode(error) => write!(f, "not decoded: {error}"),
            Self::Validate(error) => write!(f, "not validated: {error}"),
            Self::Changed(text) => write!(f, "came back as {text}"),
        }
    }
}

fn round_trip(definitions: &'static [Definition], name: &str, value: &Value) -> Result<(), Refusal> {
    let definition = definitions.iter().find(|definition| definition.name == name);
    let definition = definition.ok_or(Refusal::NoDefinition)?;
    let instance = definition
        .decode(value.to_string().as_bytes())
        .map_err(|error| Refusal::Decode(error.to_string()))?;
    instance
        .validate()
        .map_err(|invalid| Refusal::Validate(invalid.to_string()))?;
    let text = instance
        .to_json()
        .map_err(|error| Refusal::Changed(error.to_string()))?;
    match serde_json::from_str(&text) {
        Ok(back) if same(value, &back) => Ok(()),
        _ => Err(Refusal::Changed(text)),
    }
}

/// Returns all permutations of the members.
pub fn orders<'m>(members: &[&'m str]) -> Vec<Vec<&'m str>> {
    let Some((first, rest)) = members.split_first() else {
        return vec![Vec::new()];
    };
    let with_first = |order: Vec<&'m str>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    orders(rest).into_iter().flat_map(with_first).collect()
}
