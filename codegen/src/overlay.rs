//! Corrections of a revision's official schema, and facts that it can't express: data in `overlay.yaml`, each entry
//! with its reason and a link.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{definitions, pointer, walk};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::facts::Facts;
use crate::load::{Document, MAX_DEPTH, OneOrMany, present};
use crate::problem::{Problem, Problems};

/// The sections of the file that are lists. Their entries are decoded one by one.
const LISTS: [&str; 5] = ["corrections", "error_codes", "results", "meta", "deprecated"];

/// Corrections and additions to one revision's schema.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overlay {
    #[serde(deserialize_with = "or_default")]
    corrections: Vec<Correction>,
    /// Error codes that only the specification's text defines.
    #[serde(deserialize_with = "or_default")]
    pub(crate) error_codes: Vec<ErrorCode>,
    /// Results of requests whose names don't follow the convention.
    #[serde(deserialize_with = "or_default")]
    pub(crate) results: Vec<ResultOf>,
    /// Facts about the revision as a whole that the schema can't express.
    #[serde(deserialize_with = "or_default")]
    pub(crate) facts: Facts,
    /// The definition of an extension's settings.
    pub(crate) settings: Option<String>,
    /// Members that an extension adds to `_meta` of the protocol's types.
    #[serde(deserialize_with = "or_default")]
    pub(crate) meta: Vec<MetaMember>,
    /// The names that revisions use whose core has the feature of the extension.
    pub(crate) core: Option<CoreNames>,
    /// Deprecated features.
    #[serde(deserialize_with = "or_default")]
    pub(crate) deprecated: Vec<Deprecation>,
    /// The changes since the revision before, in a few sentences.
    pub(crate) summary: Vec<String>,
    #[serde(skip)]
    document: Document,
}

/// A correction of one value of the schema, at one or several places.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Correction {
    at: OneOrMany,
    /// The official value; `None` if there must be none.
    #[serde(default, deserialize_with = "present")]
    expect: Option<Value>,
    /// The corrected value; `None` to remove it.
    #[serde(default, deserialize_with = "present")]
    to: Option<Value>,
    why: String,
    link: String,
}

/// An error code that the schema doesn't define.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErrorCode {
    pub(crate) name: String,
    pub(crate) code: i64,
    /// The role by which sessions handle it automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<ErrorRole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asks: Option<Asks>,
    /// The status of an HTTP response with the error, unless it is 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<u16>,
    /// The methods of the requests that it can answer; empty for any request.
    #[serde(default, rename = "method", skip_serializing_if = "<[String]>::is_empty")]
    pub(crate) methods: OneOrMany,
    /// Its origin and meaning.
    pub(crate) why: String,
    pub(crate) link: String,
}

/// The input that an error with the role [`ErrorRole::InputRequired`] requests from the client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asks {
    /// The method of the input requests.
    pub(crate) method: String,
    /// The member of the error's data with the list of their parameters.
    pub(crate) params: String,
}

/// The meaning of an error for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ErrorRole {
    /// A header differs from the value of the message that it repeats.
    HeaderMismatch,
    /// The client has to provide input, and can then repeat the request.
    InputRequired,
    /// The request needs a capability that the client didn't declare.
    MissingCapability,
    /// The server doesn't speak the revision.
    UnsupportedVersion,
}

/// The result of requests, if neither the names nor the schema define it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultOf {
    #[serde(rename = "method")]
    pub(crate) methods: OneOrMany,
    /// The official name of the definition of its result.
    pub(crate) result: String,
    /// The definitions of other possible results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<String>,
    /// The reason.
    pub(crate) why: String,
    /// The address of the passage in the specification.
    pub(crate) link: String,
}

/// A member that an extension puts into `_meta` of types of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MetaMember {
    /// The official names of the types.
    pub(crate) of: OneOrMany,
    /// The key in `_meta`.
    pub(crate) member: String,
    /// The official name of the definition of its value.
    pub(crate) definition: String,
    /// Its purpose.
    pub(crate) why: String,
    /// The address of the passage in the extension's specification.
    pub(crate) link: String,
}

/// A deprecated feature of the protocol. Schemas don't mark deprecations.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deprecation {
    pub(crate) feature: String,
    /// Pointers of the definitions and members that belong to it; empty if the schema has none.
    #[serde(default)]
    pub(crate) at: OneOrMany,
    /// The revision that deprecates it.
    pub(crate) since: String,
    /// The proposal that deprecated it, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sep: Option<String>,
    /// The earliest time at which it can be removed.
    pub(crate) removal: String,
    pub(crate) instead: String,
    /// Why it is deprecated.
    pub(crate) why: String,
    /// The address of the passage in the specification.
    pub(crate) link: String,
}

impl Deprecation {
    /// Returns the sentence about it in compiler warnings, logs and documentation.
    pub(crate) fn note(&self) -> String {
        let sep = self.sep.as_ref().map_or_else(String::new, |sep| format!(" ({sep})"));
        format!(
            "revision {} deprecates {}{sep}: {}",
            self.since, self.feature, self.instead
        )
    }
}

impl ResultOf {
    /// Returns the official names of the definitions of all possible results, the usual one first.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.result).chain(&self.alternatives)
    }
}

/// The names that revisions use whose core has the feature of an extension: names by their roles, which the code that
/// implements the extension reads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CoreNames {
    pub(crate) names: Value,
    pub(crate) why: String,
    /// The address of the passage in a revision's specification.
    pub(crate) link: String,
}

/// Decodes the default of a type from null.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl Overlay {
    /// Reads an overlay from its document.
    ///
    /// # Errors
    ///
    /// Every unknown field and every wrong value, and every entry without a required field.
    pub fn of(document: Document) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut overlay: Self = document.without(&LISTS).decode_or_report(&mut problems);
        overlay.corrections = document.entries("corrections", &mut problems);
        overlay.error_codes = document.entries("error_codes", &mut problems);
        overlay.results = document.entries("results", &mut problems);
        overlay.meta = document.entries("meta", &mut problems);
        overlay.deprecated = document.entries("deprecated", &mut problems);
        overlay.document = document;
        let core = overlay.core.iter();
        problems.extend(core.filter_map(|_| overlay.document.unexplained("#/core")));
        Problems::check(problems)?;
        Ok(overlay)
    }

    /// Returns the pointers of entries that don't apply to another schema: corrections that expect another value, and
    /// entries about methods and definitions that it doesn't declare.
    pub(crate) fn misfits(&self, schema: &Document) -> Vec<String> {
        // Its places aren't needed.
        let mut corrected = Document::default().with_root(schema.root().clone());
        let mut misfits = Vec::new();
        let mut unordered = BTreeSet::new();
        for (index, correction) in self.corrections.iter().enumerate() {
            let entry = format!("#/corrections/{index}");
            let places = correction.at.iter().enumerate();
            let unfit = places.filter(|(_, at)| {
                let values = at.strip_suffix("/x-ordered").map(|schema| format!("{schema}/enum"));
                let is_unordered = values.is_some_and(|values| unordered.contains(&values));
                let is_unfit = is_unordered || apply(&mut corrected, at, correction).is_err();
                // `x-ordered` states the order that the correction gives.
                if is_unfit && corrected.get(at) != correction.to.as_ref() {
                    unordered.insert((*at).clone());
                }
                is_unfit
            });
            let unfit: Vec<String> = unfit.map(|(place, _)| format!("{entry}/at/{place}")).collect();
            match unfit.len() == correction.at.len() {
                true => misfits.push(entry),
                false => misfits.extend(unfit),
            }
        }
        for (index, entry) in self.deprecated.iter().enumerate() {
            let places = entry.at.iter().enumerate();
            let lacking = places.filter(|(_, at)| corrected.get(at).is_none());
            let lacking: Vec<usize> = lacking.map(|(place, _)| place).collect();
            match !lacking.is_empty() && lacking.len() == entry.at.iter().count() {
                true => misfits.push(format!("#/deprecated/{index}")),
                false => misfits.extend(lacking.iter().map(|place| format!("#/deprecated/{index}/at/{place}"))),
            }
        }
        let declared: BTreeSet<&str> = definitions(corrected.root(), "#").map(|(_, name, _)| name).collect();
        // Methods are constants, or enumerated by definitions of several messages.
        let mut constants = BTreeSet::new();
        walk(corrected.root(), |_, schema| {
            let values = schema["enum"].as_array().into_iter().flatten();
            constants.extend(values.chain(schema.get("const")).filter_map(Value::as_str));
        });
        let has_methods = |methods: &OneOrMany| methods.iter().all(|method| constants.contains(method.as_str()));
        for (index, code) in self.error_codes.iter().enumerate() {
            if !has_methods(&code.methods) {
                misfits.push(format!("#/error_codes/{index}"));
            }
        }
        for (index, result) in self.results.iter().enumerate() {
            let has_results = result.definitions().all(|name| declared.contains(name.as_str()));
            if !has_methods(&result.methods) || !has_results {
                misfits.push(format!("#/results/{index}"));
            }
        }
        misfits
    }

    /// Returns the official names of the results of requests by method, the usual one first.
    pub(crate) fn results_by_method(&self) -> BTreeMap<String, Vec<String>> {
        let by_method = self.results.iter().flat_map(|entry| {
            let results: Vec<String> = entry.definitions().cloned().collect();
            let methods = entry.methods.iter();
            methods.map(move |method| (method.clone(), results.clone()))
        });
        by_method.collect()
    }

    /// Returns a problem at an entry of the overlay, such as `#/results/0`, for later stages.
    pub(crate) fn problem(&self, pointer: &str, what: impl Into<String>) -> Problem {
        self.document.problem(pointer, what)
    }
}

/// Applies the corrections of an overlay, in order.
///
/// # Errors
///
/// Every correction that doesn't apply to the document: it expects another value, or the document has no object or list
/// to put the new value in.
pub fn apply_overlay(document: &Document, overlay: &Overlay) -> Result<Document, Problems> {
    let mut corrected = document.clone();
    let mut problems = Vec::new();
    let corrections = overlay.corrections.iter().enumerate();
    let places = corrections.flat_map(|(index, correction)| {
        let places = correction.at.iter().enumerate();
        places.map(move |(place, at)| (index, correction, place, at))
    });
    // Annotations come last, so that other entries find the official schema, whatever their order.
    let is_annotation = |at: &str| at.rsplit('/').next().is_some_and(|keyword| keyword.starts_with("x-"));
    let (annotations, others): (Vec<_>, Vec<_>) = places.partition(|(.., at)| is_annotation(at));
    for (index, correction, place, at) in others.into_iter().chain(annotations) {
        let entry = format!("#/corrections/{index}");
        let of_place = format!("{entry}/at/{place}");
        let entry = overlay.document.get(&of_place).map_or(entry, |_| of_place);
        match apply(&mut corrected, at, correction) {
            Ok(()) if correction.to.is_none() => {}
            Ok(()) => corrected.set_correction(at, overlay.problem(&entry, "")),
            Err((what, help)) => problems.push(overlay.problem(&entry, format!("{at}: {what}")).help(help)),
        }
    }
    for (index, entry) in overlay.deprecated.iter().enumerate() {
        let lacking = entry.at.iter().filter(|at| corrected.get(at).is_none());
        problems.extend(lacking.map(|at| {
            let what = format!("the schema has nothing at {at}");
            let problem = overlay.problem(&format!("#/deprecated/{index}"), what);
            problem.help("`at` has JSON pointers of definitions and members, as in #/$defs/Name/properties/member")
        }));
    }
    Problems::check(problems)?;
    Ok(corrected)
}

fn is_constant(schema: &Value) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    schema.get("const").is_some() || values.is_some_and(|values| values.len() == 1)
}

fn apply(document: &mut Document, at: &str, correction: &Correction) -> Result<(), (String, &'static str)> {
    let wrong = |what: &str| {
        let help = "`at` is a JSON pointer below the root, as in #/$defs/Name/properties/member";
        (what.to_owned(), help)
    };
    let path = pointer::tokens(at).ok_or_else(|| wrong("this isn't a JSON pointer"))?;
    if path.is_empty() || path.len() > MAX_DEPTH {
        return Err(wrong("this isn't a place that a correction can be made at"));
    }
    let (expected, found) = (correction.expect.as_ref(), document.get(at));
    if expected != found {
        let [expected, found] = [expected, found].map(|value| value.map_or("nothing".into(), Value::to_string));
        return Err((
            format!("{expected} was expected there, and the schema has {found}"),
            "the official schema has changed: see whether it still needs this correction, then remove the entry or adapt its `expect`",
        ));
    }
    let tagged = at.strip_suffix("/x-tag").and_then(|schema| document.get(schema));
    if tagged.is_some_and(is_constant) {
        return Err((
            "the schema has a constant there, which distinguishes the object from others".into(),
            "remove the entry",
        ));
    }
    if document.set(at, correction.to.clone()) {
        Ok(())
    } else {
        Err((
            "the schema has no object or list around this place".into(),
            "correct the pointer, or put in the object around it with an earlier correction",
        ))
    }
}
