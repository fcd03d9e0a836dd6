//! Validation of a peer's messages by the schema of its revision.

use mcp_wire::{DecodeErrorKind, Invalid, Map, Method, RawJson, from_slice, validate_at, validate_text};

use crate::revision::ProtocolRevision;

/// Validates the JSON text of a request or notification by the schema of a revision.
///
/// A message that is neither, and a method that the revision doesn't declare, can't be validated and are accepted.
///
/// # Errors
/// When the message is invalid, isn't JSON, or has a duplicate member.
pub fn validate_call<R: ProtocolRevision>(revision: R, json: &[u8]) -> Result<(), Invalid> {
    let mut message = match from_slice::<Map<RawJson>>(json) {
        Ok(message) => message,
        Err(error) if error.kind() == DecodeErrorKind::WrongType => return Ok(()),
        Err(error) => return Err(Invalid::from(error)),
    };
    let method = message
        .get("method")
        .and_then(|method| method.decode_as::<String>().ok());
    let Some(method) = method.and_then(|name| declared(revision, &name)) else {
        return Ok(());
    };
    // The schema describes messages without their envelope.
    message.remove("jsonrpc");
    message.remove("id");
    validate_at(&message, method.definition, revision.declared_schema())
}

/// Validates JSON by a definition of the schema of a revision. `None` if there is no such definition.
pub fn validate_definition<R: ProtocolRevision>(revision: R, name: &str, json: &str) -> Option<Result<(), Invalid>> {
    let table = R::protocol().table(revision.index()).ok()?;
    let pointer = table.pointer_of(name)?;
    Some(validate_text(json, &pointer, revision.declared_schema()))
}

/// Validates the result of a method by the schema of a revision. If the method has several types of results, the error
/// has the violations of the one that fits best.
///
/// # Errors
/// When the result is invalid.
pub fn validate_result<R: ProtocolRevision>(revision: R, method: &str, result: &RawJson) -> Result<(), Invalid> {
    let forms = declared(revision, method).map_or(&[][..], |method| method.results);
    let mut closest: Option<Invalid> = None;
    for form in forms {
        match validate_at(result, form, revision.declared_schema()) {
            Ok(()) => return Ok(()),
            Err(invalid) => {
                let faults = |invalid: &Invalid| invalid.violations.len();
                if closest
                    .as_ref()
                    .is_none_or(|closest| faults(&invalid) < faults(closest))
                {
                    closest = Some(invalid);
                }
            }
        }
    }
    closest.map_or(Ok(()), Err)
}

fn declared<R: ProtocolRevision>(revision: R, method: &str) -> Option<&'static Method> {
    let mut methods = revision.declared_methods().iter();
    methods.find(|declared| declared.name == method)
}
