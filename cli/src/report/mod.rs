//! What was found out about a server.

pub mod junit;

use std::fmt::Display;
use std::io::{self, Write};

use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime::hub::Implementation;
use serde::Serialize;

use crate::text::{one_line, plain};

/// Findings of a case that are kept.
const FINDINGS: usize = 100;

/// Something that violates the specification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The path in the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub message: String,
    /// The JSON pointer of the keyword in the revision's schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The link to the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub specification: Option<String>,
}

impl Finding {
    pub fn new(message: impl Display) -> Self {
        Self {
            path: None,
            message: message.to_string(),
            schema: None,
            specification: None,
        }
    }
}

/// A request of the client with its response, or the messages that the server sends by itself with one method.
#[derive(Debug, Serialize)]
pub struct Case {
    pub name: String,
    pub passed: bool,
    /// What is no violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub findings: Vec<Finding>,
}

/// What was found out about a server in a session.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The session of a transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    pub server: Option<Implementation>,
    pub revision: Revision,
    /// The messages that the server has sent.
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

    /// The case of this name.
    pub fn begin(&mut self, name: &str) -> &mut Case {
        let index = self.cases.iter().position(|case| case.name == name).unwrap_or_else(|| {
            self.cases.push(Case {
                name: name.to_owned(),
                passed: true,
                note: None,
                findings: Vec::new(),
            });
            self.cases.len() - 1
        });
        &mut self.cases[index]
    }

    /// Adds a finding, once.
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

    fn write_text(&self, mut output: impl Write) -> io::Result<()> {
        let era = match self.revision.has_handshake() {
            true => "with a handshake",
            false => "stateless",
        };
        writeln!(output, "{}, revision {}, {era}\n", self.name(), self.revision)?;
        for case in &self.cases {
            let outcome = if case.passed { "ok  " } else { "FAIL" };
            let note = case
                .note
                .as_ref()
                .map_or_else(String::new, |note| format!("  ({})", one_line(note)));
            writeln!(output, "{outcome}  {}{note}", one_line(&case.name))?;
            for finding in &case.findings {
                let path = finding
                    .path
                    .as_ref()
                    .map_or_else(String::new, |path| format!("{path}: "));
                writeln!(output, "      {}{}", plain(&path), plain(&finding.message))?;
                let places = [&finding.schema, &finding.specification].into_iter().flatten();
                for place in places {
                    writeln!(output, "        {place}")?;
                }
            }
        }
        let (all, failed) = (self.cases.len(), self.failed());
        writeln!(
            output,
            "\n{} of {all} passed; the server sent {} messages",
            all - failed,
            self.messages
        )
    }
}

/// Writes reports for people.
pub fn write_text(reports: &[Report], mut output: impl Write) -> io::Result<()> {
    for (index, report) in reports.iter().enumerate() {
        if index > 0 {
            writeln!(output)?;
        }
        report.write_text(&mut output)?;
    }
    Ok(())
}

/// Writes one JSON value: a list of reports, or the only one.
pub fn write_json(reports: &[Report], is_list: bool, mut output: impl Write) -> io::Result<()> {
    match reports {
        [report] if !is_list => serde_json::to_writer_pretty(&mut output, report)?,
        reports => serde_json::to_writer_pretty(&mut output, reports)?,
    }
    writeln!(output)
}
