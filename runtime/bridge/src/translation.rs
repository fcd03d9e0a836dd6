//! Direct translation of messages between two revisions of one era.

use mcp_adapters::mcp_wire::{DecodeError, ErrorObject, RawJson, error_code};
use mcp_adapters::{AUTOMATIC, Loss, LossKind, Policy, Revision, TranslateError, Translation, translate};
use mcp_runtime_core::Era;
use mcp_runtime_core::internal::{Negotiated, internal_error, read_tolerantly, tolerated};

/// A translated value, and its losses.
pub type Translated<T> = (T, Vec<Loss>);

/// Whether messages are translated directly between two revisions: these and all revisions between them are of one era.
pub fn are_of_one_era(one: Revision, other: Revision) -> bool {
    let between = one.min(other)..=one.max(other);
    let mut between = Revision::all().filter(|revision| between.contains(revision));
    between.all(|revision| Era::of(revision) == Era::of(one))
}

/// Translates a request or notification to another revision. It stays as it is if the revisions are equal, or if no
/// revision of the era declares its method.
///
/// # Errors
/// When the other revision can't represent the message.
pub fn translate_call(
    (from, to): (Revision, Revision),
    method: &str,
    json: Vec<u8>,
) -> Result<Translated<Vec<u8>>, ErrorObject> {
    if from == to {
        return Ok((json, Vec::new()));
    }
    let Some(entry) = from.method(method) else {
        // In this era, an extension can have a method that only the other era declares.
        let mut of_era = Revision::all().filter(|revision| Era::of(*revision) == Era::of(from));
        return match of_era.any(|revision| revision.method(method).is_some()) {
            true => Err(no_method(format_args!("revision {from} has no method {method}"))),
            false => Ok((json, Vec::new())),
        };
    };
    let translated = translate(from, to, name(entry.definition), &json, Policy::Conform);
    let translated = translated.map_err(|error| match error {
        TranslateError::NoCounterpart { .. } => no_counterpart(to, method),
        error => ErrorObject::new(error.code(), error.to_string()),
    })?;
    Ok((translated.value.text().as_bytes().to_vec(), translated.losses))
}

/// Translates the result of a method to another revision. `method` is the method's name in the result's own revision.
///
/// # Errors
/// When the other revision can't represent the result.
pub fn translate_result(
    (sender, to): (&Negotiated, Revision),
    method: &str,
    result: RawJson,
) -> Result<Translated<RawJson>, ErrorObject> {
    let from = sender.revision;
    let result = match from == to {
        true => return Ok((result, Vec::new())),
        false => tolerated(from, method, result),
    };
    let definitions = from.result_definitions(method, &result);
    if definitions.is_empty() {
        return Ok((result, Vec::new()));
    }
    let mut reason = String::new();
    for definition in definitions {
        let translate =
            |result: &RawJson| translate(from, to, name(definition), result.text().as_bytes(), Policy::Conform);
        match read_tolerantly((sender, method), &result, translate, invalid_part) {
            Ok(Translation { value, losses, .. }) => return Ok((value, losses)),
            // Nothing in the result determines its type. The next one is tried.
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(internal_error(format!(
        "the result of {method} can't be represented in revision {to}: {reason}"
    )))
}

fn invalid_part(error: &TranslateError) -> Option<&DecodeError> {
    match error {
        TranslateError::Invalid(error) => Some(error),
        _ => None,
    }
}

/// Refuses a method that another revision declares and the other side's revision doesn't. A method that no revision
/// declares is allowed.
///
/// # Errors
/// When the method is refused.
pub fn check_undeclared(to: Revision, method: &str) -> Result<(), ErrorObject> {
    match Revision::all().any(|revision| revision.method(method).is_some()) {
        true => Err(no_counterpart(to, method)),
        false => Ok(()),
    }
}

fn no_counterpart(to: Revision, method: &str) -> ErrorObject {
    match to.method(method) {
        Some(_) => no_method(format_args!("the revision of this session has no method {method}")),
        None => no_method(format_args!(
            "the other side speaks revision {to}, which has no method {method}"
        )),
    }
}

fn no_method(reason: std::fmt::Arguments<'_>) -> ErrorObject {
    ErrorObject::new(error_code::METHOD_NOT_FOUND, reason.to_string())
}

/// The loss of a whole notification.
pub fn dropped() -> Loss {
    Loss {
        path: mcp_wire::Path::default(),
        kind: LossKind::Dropped,
        rule: AUTOMATIC,
    }
}

/// The name of the definition at a JSON pointer.
fn name(pointer: &'static str) -> &'static str {
    pointer.rsplit_once('/').map_or(pointer, |(_, name)| name)
}
