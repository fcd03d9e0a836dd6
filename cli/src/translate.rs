//! `mcp-rev translate`

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};

use mcp_adapters::mcp_wire::{DecodeError, DecodeErrorKind, Definition, Map, Path, RawJson, error_code};
use mcp_adapters::{
    Conversion, Loss, PeerTypes, Policy, Revision, Supply, TranslateError, Translation, session_messages, supply_keys,
    translatable, translate,
};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::args::TranslateArgs;
use crate::decode::find_definition;
use crate::error::{CommandError, Summary};
use crate::message::{is_message, translate_message};
use crate::text::say_loss;
use crate::values::{Definitions, Failure, process_values};

/// The envelope member with the version of JSON-RPC.
const VERSION: &str = "jsonrpc";

/// A value in another revision.
#[derive(Serialize)]
struct Translated {
    /// The name of its definition in that revision, if the input named its own.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    definition: Option<&'static str>,
    value: RawJson,
    losses: Vec<LossEntry>,
    /// Values that the source repeats in each message and the target doesn't.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    supply: BTreeMap<String, RawJson>,
}

/// A loss, as written to the output.
#[derive(Serialize)]
struct LossEntry {
    path: String,
    kind: &'static str,
    rule: &'static str,
}

impl From<Loss> for LossEntry {
    fn from(loss: Loss) -> Self {
        Self {
            path: loss.path.to_string(),
            kind: loss.kind.as_str(),
            rule: loss.rule,
        }
    }
}

/// Translates every value of `input`.
pub fn run(args: &TranslateArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let (from, to) = (args.from, args.to);
    let names: Vec<&str> = translatable(from).collect();
    let is_union = |name: &&str| !names.contains(name) && from.definition_names().any(|known| known == *name);
    if let Some(name) = args.definition.as_deref().filter(is_union) {
        let what =
            format!("{name} is a union of results: give the definition of the result, which depends on the request");
        return Err(CommandError::Argument(what));
    }
    let definitions = Definitions::new(from, names, args.definition.as_deref())?;
    let policy = if args.carry { Policy::Carry } else { Policy::Conform };
    let supply = supply(args)?;
    let conversion = Conversion::new(policy);
    let conversion = match supply.is_empty() && args.supply.is_empty() {
        true => conversion,
        false => conversion.supplied_with(supply.clone().into_iter().collect::<Supply>()),
    };
    let method = args.method.as_deref();
    let is_lossy = Cell::new(false);
    let summary = process_values(input, output, &definitions, true, |name, json| {
        let translation = translate_value((from, to), name, json, method, &conversion)?;
        for loss in translation.losses.iter().filter(|_| args.strict) {
            is_lossy.set(true);
            say_loss(name, loss);
        }
        Ok(Translated {
            definition: args.typed.then_some(translation.definition),
            value: translation.value,
            losses: translation.losses.into_iter().map(LossEntry::from).collect(),
            supply: added(translation.supply, &supply),
        })
    })?;
    Ok(if is_lossy.get() { Summary::SomeFailed } else { summary })
}

/// The supply from the arguments, without what only the other direction needs, and with the default for the version if
/// only the target repeats it in each message.
fn supply(args: &TranslateArgs) -> Result<BTreeMap<String, RawJson>, CommandError> {
    let (from, to) = (args.from, args.to);
    let keys = |from, to| supply_keys(from, to).map_err(|error| CommandError::Argument(error.to_string()));
    let (known, back) = (keys(from, to)?, keys(to, from)?);
    let is_known = |key: &str| known.contains(key) || back.contains(key);
    if let Some((key, _)) = args.supply.iter().find(|(key, _)| !is_known(key)) {
        return Err(CommandError::UnknownKey {
            from,
            to,
            name: key.clone(),
            known: known.union(&back).copied().collect(),
        });
    }
    let given = args.supply.iter().filter(|(key, _)| known.contains(key.as_str()));
    let mut supply: BTreeMap<_, _> = given.cloned().collect();
    if known.contains(session_messages::VERSION_KEY) && from.lifecycle().meta_version.is_none() {
        let version = || Value::from(to.as_str()).into();
        supply
            .entry(session_messages::VERSION_KEY.to_owned())
            .or_insert_with(version);
    }
    Ok(supply)
}

/// The values that conversions have added to a supply.
fn added(supply: Option<Supply>, given: &BTreeMap<String, RawJson>) -> BTreeMap<String, RawJson> {
    let supply = supply.unwrap_or_default();
    let added = supply.iter().filter(|(key, _)| !given.contains_key(*key));
    added.map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

fn untranslatable(path: Path, error: &TranslateError) -> Failure {
    let reason = match error.supply_key() {
        Some(key) => format!("{}; --supply {key}=VALUE gives it", error.reason()),
        None => error.reason(),
    };
    Failure::new(Some(error.code()), path, reason)
}

fn invalid(error: &DecodeError, reason: String) -> Failure {
    Failure::new(Some(error_code::INVALID_PARAMS), error.path(), reason)
}

/// Translates a value from and into the form that `decode` reads: some revisions define a request with the JSON-RPC
/// envelope around it, and others without.
fn translate_value(
    way: (Revision, Revision),
    name: &str,
    json: &[u8],
    method: Option<&str>,
    conversion: &Conversion,
) -> Result<Translation, Failure> {
    let (from, to) = way;
    if let Some(definition) = find_definition(from, name) {
        definition
            .decode(json)
            .map_err(|error| invalid(&error, error.reason()))?;
    }
    let translation = if is_message(name) {
        translate_message(way, name, json, method, conversion).map_err(|(path, error)| untranslatable(path, &error))?
    } else {
        translate(from, to, name, json, conversion.clone()).map_err(|error| untranslatable(error.path(), &error))?
    };
    let Some(definition) = find_definition(to, translation.definition) else {
        return Ok(translation);
    };
    let value = reencode(definition, translation.value)?;
    Ok(Translation { value, ..translation })
}

/// Decodes a value as its definition and encodes it again. If the definition includes the JSON-RPC envelope, the value
/// gets the member `jsonrpc`, which has only one possible value. A missing id can't be added.
fn reencode(definition: &Definition, mut value: RawJson) -> Result<RawJson, Failure> {
    let is_missing = |error: &DecodeError, member: &str| {
        error.kind() == DecodeErrorKind::MissingMember && error.path().to_string() == member
    };
    let mut decoded = definition.decode(value.text().as_bytes());
    if decoded.as_ref().is_err_and(|error| is_missing(error, VERSION))
        && let Ok(mut members) = value.decode_as::<Map<RawJson>>()
    {
        members.insert(VERSION, serde_json::json!("2.0"));
        value = RawJson::from_encode(&members).unwrap_or(value);
        decoded = definition.decode(value.text().as_bytes());
    }
    let instance = decoded.map_err(|error| {
        let missing = |member| format!("the target revision requires `{member}`, and nothing supplies it");
        let reason = match error.kind() {
            DecodeErrorKind::MissingMember => missing(error.path().to_string()),
            _ => error.reason(),
        };
        invalid(&error, reason)
    })?;
    let text = instance
        .to_json()
        .ok()
        .and_then(|text| RawValue::from_string(text).ok());
    Ok(text.map_or(value, RawJson::from))
}
