//! Validation of what a peer sent by the schema of its revision.

use mcp_wire::{DecodeErrorKind, Invalid, Map, Method, OpenJson, from_slice, validate_at};

use crate::revision::ProtocolRevision;

/// Validates a request or notification, as it came, by the schema of a revision.
///
/// What can't be validated passes: a JSON value that isn't a call, and methods that the revision doesn't declare.
///
/// # Errors
/// When it departs from the schema, isn't JSON, or has a member twice.
pub fn validate_call<R: ProtocolRevision>(revision: R, json: &[u8]) -> Result<(), Invalid> {
    let mut message = match from_slice::<Map<OpenJson>>(json) {
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
    // The schema has methods without their envelope.
    message.remove("jsonrpc");
    message.remove("id");
    validate_at(&message, method.definition, revision.declared_schema())
}

/// Validates a result of a method, as it came, in the same way. Where there are several forms, what is reported is what
/// speaks against the one that comes closest.
///
/// # Errors
/// When it departs from the schema.
pub fn validate_result<R: ProtocolRevision>(revision: R, method: &str, result: &OpenJson) -> Result<(), Invalid> {
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
