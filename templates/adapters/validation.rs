//! Validation of what a peer sent by the schema of its revision.

use mcp_wire::{DecodeErrorKind, Invalid, Map, OpenJson, from_slice, validate_at};

use crate::Revision;

impl Revision {
    /// Validates a request or notification, as it came, by the official schema of this revision as corrected by the overlay.
    ///
    /// What can't be validated passes: a JSON value that isn't a call, and methods that the revision doesn't declare.
    ///
    /// # Errors
    /// When it departs from the schema, isn't JSON, or has a member twice.
    pub fn validate_call(self, json: &[u8]) -> Result<(), Invalid> {
        let mut message = match from_slice::<Map<OpenJson>>(json) {
            Ok(message) => message,
            Err(error) if error.kind() == DecodeErrorKind::WrongType => return Ok(()),
            Err(error) => return Err(Invalid::from(error)),
        };
        let method = message.get("method").and_then(|method| method.decode_as::<String>().ok());
        let Some(method) = method.and_then(|name| self.method(&name)) else {
            return Ok(());
        };
        // The schema has methods without their envelope.
        message.remove("jsonrpc");
        message.remove("id");
        validate_at(&message, method.definition, self.schema())
    }

    /// Validates a result of a method, as it came, in the same way. Where there are several forms, what is reported is what
    /// speaks against the one that comes closest.
    ///
    /// # Errors
    /// When it departs from the schema.
    pub fn validate_result(self, method: &str, result: &OpenJson) -> Result<(), Invalid> {
        let forms = self.method(method).map_or(&[][..], |method| method.results);
        let mut closest: Option<Invalid> = None;
        for form in forms {
            match validate_at(result, form, self.schema()) {
                Ok(()) => return Ok(()),
                Err(invalid) => {
                    let faults = |invalid: &Invalid| invalid.violations.len();
                    if closest.as_ref().is_none_or(|closest| faults(&invalid) < faults(closest)) {
                        closest = Some(invalid);
                    }
                }
            }
        }
        closest.map_or(Ok(()), Err)
    }
}
