//! Validation of a peer's messages by the schema of its revision.

use mcp_wire::{DecodeErrorKind, Invalid, Map, Method, RawJson, Reader, from_slice, validate_at, validate_text};

use crate::Role;
use crate::engine::type_of_result;
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

/// Validates the result of a method by the schema of a revision, and by the type that its tag or members determine. If
/// they determine none, the error has the violations of the type that fits best.
///
/// # Errors
/// When the result is invalid.
pub fn validate_result<R: ProtocolRevision>(revision: R, method: &str, result: &RawJson) -> Result<(), Invalid> {
    let mut closest: Option<Invalid> = None;
    for definition in result_definitions(revision, method, result) {
        match validate_text(result.text(), definition, revision.declared_schema()) {
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

/// Returns the pointers of the definitions of a method's result: only the one that the result's tag or members determine,
/// or if they determine none, all of the method.
pub fn result_definitions<R: ProtocolRevision>(revision: R, method: &str, result: &RawJson) -> &'static [&'static str] {
    let all = declared(revision, method).map_or(&[][..], |method| method.results);
    let determined = || {
        let table = R::protocol().table(revision.index()).ok()?;
        [Role::Server, Role::Client].into_iter().find_map(|role| {
            let union = table.named(table.sent_by(role).results?)?;
            let ty = type_of_result(table, union, method, &mut Reader::new(result.text()));
            table.schema_pointer(&ty.ok()???)
        })
    };
    match all {
        [] | [_] => all,
        _ => {
            let determined = determined().and_then(|pointer| all.iter().position(|known| *known == pointer));
            determined.map_or(all, |at| &all[at..=at])
        }
    }
}

fn declared<R: ProtocolRevision>(revision: R, method: &str) -> Option<&'static Method> {
    let mut methods = revision.declared_methods().iter();
    methods.find(|declared| declared.name == method)
}
