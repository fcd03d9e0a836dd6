//! A `server.json` document, and the schema version that it names.

use std::io::ErrorKind;
use std::path::Path as FilePath;

use mcp_registry_types::Revision;
use mcp_registry_types::mcp_wire::path::Path;
use serde_json::Value;

use super::problem::Problem;
use crate::error::CommandError;
use crate::input_file::read_text;

/// The definition of the document in the schema.
pub const DEFINITION: &str = "ServerDetail";

/// The member that names the schema.
pub const SCHEMA: &str = "$schema";

/// A document, as text and as JSON.
pub struct Document {
    pub text: String,
    /// `null` if the text isn't JSON.
    pub value: Value,
    syntax: Option<Problem>,
}

impl Document {
    /// Reads a file.
    pub fn read(file: &FilePath) -> Result<Self, CommandError> {
        let text = read_text(file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                CommandError::file(file, "there is no such file; `mcp-rev registry init` writes one")
            }
            _ => CommandError::file(file, error),
        })?;
        Ok(Self::parse(text))
    }

    fn parse(text: String) -> Self {
        let parsed = serde_json::from_str(&text).map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Problem {
                at: Some((error.line() as u64, (error.column() as u64).max(1))),
                ..Problem::error(Path::default(), format!("not JSON: {message}"))
            }
        });
        let (value, syntax) = match parsed {
            Ok(value) => (value, None),
            Err(problem) => (Value::Null, Some(problem)),
        };
        Self { text, value, syntax }
    }

    /// Adds the schema of a version to a document that names none.
    pub fn naming(self, revision: Revision) -> Self {
        let is_open = self.value.as_object().is_some_and(|members| !members.is_empty());
        if !is_open || self.value.get(SCHEMA).is_some() {
            return self;
        }
        let member = format!("{{\"{SCHEMA}\": \"{}\",", address(revision));
        Self::parse(self.text.replacen('{', &member, 1))
    }

    /// The schema version that the document names.
    pub fn revision(&self) -> Result<Revision, Problem> {
        if let Some(problem) = &self.syntax {
            return Err(problem.clone());
        }
        let mut path = Path::default();
        if !self.value.is_object() {
            return Err(Problem::error(path, "expected an object"));
        }
        let newest = address(Revision::LATEST);
        let Some(named) = self.value.get(SCHEMA) else {
            let message = format!("`{SCHEMA}` is missing; the newest schema is {newest}");
            return Err(Problem::error(path, message));
        };
        let known = Revision::all().find(|revision| named.as_str() == Some(&address(*revision)));
        known.ok_or_else(|| {
            path.push_member(SCHEMA);
            Problem::error(path, format!("this schema isn't known; the newest is {newest}"))
        })
    }
}

/// The URL of the schema of a version.
pub fn address(revision: Revision) -> String {
    let schema: Value = serde_json::from_str(revision.schema().text()).unwrap_or_default();
    schema["$id"].as_str().unwrap_or_default().to_owned()
}
