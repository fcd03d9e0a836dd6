//! The findings about a server.

use std::fmt::{self, Display};

use mcp_adapters::Revision;
use mcp_runtime::hub::Implementation;
use serde::Serialize;
use serde_json::Value;

use crate::text::one_line;

/// The maximum number of findings for a case.
const FINDINGS: usize = 100;

/// A violation of the specification, or a difference from the recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Finding {
    /// The path in the message, or the JSON Pointer of a difference from the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub message: String,
    /// The JSON Pointer of the keyword in the revision's schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The link to the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
    /// The recorded value at the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
    /// The current value at the path, if it differs from the recorded one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Value>,
}

impl Finding {
    pub fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            ..Self::default()
        }
    }
}

impl Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// A request of the client with its response, or the unsolicited messages of the server with one method.
#[derive(Debug, Default, Serialize)]
pub struct Case {
    pub name: String,
    pub passed: bool,
    /// A remark, such as the error of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Warnings, which don't make the case fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    pub findings: Vec<Finding>,
}

/// The findings about a server in a session.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The title of the session, if it is from a transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub server: Option<Implementation>,
    pub revision: Revision,
    /// The number of messages that the server has sent.
    pub messages: usize,
    pub cases: Vec<Case>,
}

impl Report {
    pub fn new(revision: Revision) -> Self {
        Self {
            session: None,
            server: None,
            revision,
            messages: 0,
            cases: Vec::new(),
        }
    }

    /// Finds or adds the case with this name.
    pub fn begin(&mut self, name: &str) -> &mut Case {
        let index = self.cases.iter().position(|case| case.name == name).unwrap_or_else(|| {
            self.cases.push(Case {
                name: name.to_owned(),
                passed: true,
                ..Case::default()
            });
            self.cases.len() - 1
        });
        &mut self.cases[index]
    }

    /// Adds a finding to a case and makes it fail, unless it has the same finding.
    pub fn add(&mut self, case: &str, finding: Finding) {
        let case = self.begin(case);
        case.passed = false;
        if case.findings.len() < FINDINGS && !case.findings.contains(&finding) {
            case.findings.push(finding);
        }
    }

    pub fn fail(&mut self, case: &str, what: &impl Display) {
        self.add(case, Finding::new(what));
    }

    pub fn note(&mut self, case: &str, note: String) {
        self.begin(case).note = Some(note);
    }

    /// Adds to the note of a case that has passed. There may be none: another revision may have another name for it.
    pub fn remark(&mut self, case: &str, remark: &str) {
        if let Some(case) = self.cases.iter_mut().find(|known| known.name == case && known.passed) {
            let before = case.note.take().map(|before| before + "; ");
            case.note = Some(before.unwrap_or_default() + remark);
        }
    }

    /// Adds a warning to a case, unless it has the same one.
    pub fn warn(&mut self, case: &str, warning: String) {
        let warnings = &mut self.begin(case).warnings;
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    pub fn warnings(&self) -> usize {
        self.cases.iter().map(|case| case.warnings.len()).sum()
    }

    pub fn failed(&self) -> usize {
        self.cases.iter().filter(|case| !case.passed).count()
    }

    /// The session, or the name and version of the server.
    pub fn name(&self) -> String {
        match (&self.session, &self.server) {
            (Some(session), _) => session.clone(),
            (None, Some(server)) => format!("{} {}", one_line(&server.name), one_line(&server.version)),
            (None, None) => "a server without a name".to_owned(),
        }
    }
}
