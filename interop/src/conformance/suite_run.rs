//! A run of the suite.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::packages::Packages;
use crate::process::{Running, leading, output_of};

/// A run of the suite.
pub struct SuiteRun {
    side: Side,
    arguments: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Server,
    Client,
}

/// The outcome of a run.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Whether the suite ended with exit status 0. The counts don't decide this, because a check that can't be made isn't
    /// counted.
    pub success: bool,
    /// Scenarios of which every check passed.
    pub passed: Vec<String>,
    /// Scenarios that should have passed.
    pub failed: Vec<String>,
    /// Scenarios that are known to fail, and did.
    pub known: Vec<String>,
    /// Optional scenarios that failed.
    pub optional: Vec<String>,
    /// The output of the suite.
    #[serde(skip)]
    pub text: String,
}

impl SuiteRun {
    pub fn of_server(arguments: Vec<String>) -> Self {
        Self {
            side: Side::Server,
            arguments,
        }
    }

    pub fn of_client(arguments: Vec<String>) -> Self {
        Self {
            side: Side::Client,
            arguments,
        }
    }

    pub fn is_server(&self) -> bool {
        self.side == Side::Server
    }

    /// Whether the run has the requirements of a revision.
    pub fn requires(&self, revision: &str) -> bool {
        matches!(self.arguments.as_slice(), [option, of] if option == "--requirements" && of == revision)
    }

    /// The file with the expected failures of the tested revision, which is the last argument.
    fn expected_failures(&self) -> String {
        let revision = self.arguments.last().map_or("", String::as_str);
        format!("expected-failures-{revision}.yaml")
    }

    /// Runs the suite with our server or client.
    pub async fn execute(&self, suite: &Packages, ours: &Path) -> Result<Outcome, Error> {
        let results = suite.installed.join("results").join(self.to_string().replace(' ', ""));
        if results.exists() {
            std::fs::remove_dir_all(&results).map_err(Error::io(&results))?;
        }
        std::fs::create_dir_all(&results).map_err(Error::io(&results))?;
        let mut command = leading(suite.node());
        command.arg(suite.module("@modelcontextprotocol/conformance/dist/index.js"));
        command.current_dir(&suite.installed);
        let server = match self.side {
            Side::Server => {
                let mut everything = leading(ours);
                everything.arg("--http");
                let mut server = Running::start(everything, &results.join("server.stderr"))?;
                let url = server.line().await.map_err(Error::io(ours))?;
                let url = url.ok_or_else(|| Error::malformed(ours, "it ended without naming its URL"))?;
                command.args(["server", "--url", &url]);
                Some(server)
            }
            Side::Client => {
                command.args(["client", "--command"]).arg(ours);
                None
            }
        };
        let known = suite.described.join(self.expected_failures());
        if known.exists() {
            command.arg("--expected-failures").arg(known);
        }
        command.args(&self.arguments).arg("--output-dir").arg(&results);
        let output = output_of(command, "it is installed with the suite").await?;
        if let Some(server) = server {
            server.end().await.map_err(Error::io(ours))?;
        }

        let text = [output.stdout.as_slice(), &output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Outcome::of(output.status.success(), text))
    }
}

impl Outcome {
    /// Parses the output of the suite: a line for each scenario, and indented below them a line for each expected
    /// failure and each unexpected one. Scenarios that aren't required come last.
    fn of(success: bool, text: String) -> Self {
        let (scored, _) = text.split_once("\nNot scored for ").unwrap_or((&text, ""));
        let scenarios = |sign| {
            let lines = scored.lines().filter_map(move |line| line.strip_prefix(sign));
            lines
                .filter_map(|line| line.split([':', ' ']).next())
                .map(str::to_owned)
        };
        let passed = scenarios("✓ ").collect();
        let known: Vec<String> = scenarios("  ~ ").collect();
        let failed: Vec<String> = scenarios("  ✗ ").collect();
        let counts = |scenario: &String| known.contains(scenario) || failed.contains(scenario);
        let optional = scenarios("✗ ").filter(|scenario| !counts(scenario)).collect();
        Self {
            success,
            passed,
            failed,
            known,
            optional,
            text,
        }
    }
}

impl fmt::Display for SuiteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Server => "server",
            Side::Client => "client",
        };
        write!(f, "{side} {}", self.arguments.join(" "))
    }
}
