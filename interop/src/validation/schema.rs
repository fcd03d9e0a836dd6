//! The official schema of a revision, as validators for whole messages.

use std::collections::HashMap;
use std::path::Path;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::error::Error;

/// The kinds of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    Request,
    Notification,
    Result,
    Error,
}

/// The official schema of one revision.
pub struct Schema {
    document: Value,
    /// The member of the document with the definitions.
    definitions: &'static str,
    envelopes: HashMap<MessageKind, String>,
    validators: HashMap<(MessageKind, String), Validator>,
}

impl Schema {
    /// Reads the schema in a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read(path).map_err(Error::io(path))?;
        let document: Value = serde_json::from_slice(&text).map_err(|error| Error::malformed(path, error))?;
        let definitions = if document.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        let mut schema = Self {
            document,
            definitions,
            envelopes: HashMap::new(),
            validators: HashMap::new(),
        };
        schema.find_envelopes();
        match schema.envelopes.len() {
            4 => Ok(schema),
            found => Err(Error::malformed(
                path,
                format!("JSONRPCMessage has {found} of 4 kinds of messages"),
            )),
        }
    }

    /// Whether a definition declares a member.
    pub fn declares(&self, definition: &str, member: &str) -> bool {
        let definition = &self.document[self.definitions][definition];
        definition["properties"].get(member).is_some()
    }

    /// Returns the violations of a message of this kind. `definitions` are the alternatives for the message, or for its
    /// result.
    pub fn violations(&mut self, kind: MessageKind, definitions: &[&str], message: &Value) -> Vec<String> {
        let key = (kind, definitions.join("|"));
        if !self.validators.contains_key(&key) {
            match self.build(kind, definitions) {
                Ok(validator) => self.validators.insert(key.clone(), validator),
                Err(reason) => return vec![reason],
            };
        }
        let Some(validator) = self.validators.get(&key) else {
            return Vec::new();
        };
        validator.iter_errors(message).map(|error| describe(&error)).collect()
    }

    /// Finds the definitions of the JSON-RPC messages by their required members, because their names differ among
    /// revisions.
    fn find_envelopes(&mut self) {
        let all = &self.document[self.definitions];
        let members = all["JSONRPCMessage"]["anyOf"].as_array();
        for reference in members
            .into_iter()
            .flatten()
            .filter_map(|member| member["$ref"].as_str())
        {
            let name = reference.rsplit('/').next().unwrap_or_default();
            let required = |member: &str| {
                let required = all[name]["required"].as_array();
                required.is_some_and(|required| required.iter().any(|name| name == member))
            };
            let kind = match (required("method"), required("id")) {
                (true, true) => MessageKind::Request,
                (true, false) => MessageKind::Notification,
                _ if required("result") => MessageKind::Result,
                _ if required("error") => MessageKind::Error,
                _ => continue,
            };
            self.envelopes.insert(kind, name.to_owned());
        }
    }

    fn build(&self, kind: MessageKind, definitions: &[&str]) -> Result<Validator, String> {
        let refer = |name: &str| json!({ "$ref": format!("#/{}/{name}", self.definitions) });
        let mut all: Vec<Value> = self.envelopes.get(&kind).map(|name| refer(name)).into_iter().collect();
        let own: Vec<Value> = definitions.iter().map(|pointer| json!({ "$ref": pointer })).collect();
        // An `anyOf` with one schema would only make the errors less clear.
        let own = match own.as_slice() {
            [] => json!({}),
            [only] => only.clone(),
            _ => json!({ "anyOf": own }),
        };
        all.push(match kind {
            MessageKind::Result => json!({ "properties": { "result": own } }),
            _ => own,
        });
        let schema = json!({
            "$schema": self.document["$schema"],
            "allOf": all,
            self.definitions: self.document[self.definitions],
        });
        let built = jsonschema::options().should_validate_formats(true).build(&schema);
        built.map_err(|error| format!("the official schema can't be used: {error}"))
    }
}

/// Describes an error and its place. Of several alternatives, it describes the one with the fewest errors.
fn describe(error: &ValidationError<'_>) -> String {
    let nearest = match error.kind() {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let nearest = context.iter().min_by_key(|violations| violations.len());
            nearest.and_then(|violations| violations.first())
        }
        _ => None,
    };
    match nearest {
        Some(nearest) => describe(nearest),
        None => format!("{}: {error}", error.instance_path()),
    }
}
