//! The official conformance suite, with our server and our client.

mod suite_run;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;

use self::suite_run::{Outcome, SuiteRun};
use crate::args::ConformanceArgs;
use crate::error::Error;
use crate::packages::Packages;
use crate::process::progress;
use crate::{example, paths};

/// The arguments of the suite's runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runs {
    server: Vec<Vec<String>>,
    client: Vec<Vec<String>>,
}

/// Runs the suite, and returns whether there are only expected failures.
pub async fn run(args: &ConformanceArgs) -> Result<bool, Error> {
    let described = paths::in_workspace("interop/conformance");
    let suite = Packages {
        installed: paths::install_directory().join("conformance"),
        described,
    };
    suite.install(|what| progress(&format!("conformance: {what}"))).await?;
    progress("building our server and our client");
    let server = example::build("everything").await?;
    let client = example::build("conformance_client").await?;

    let mut outcomes = BTreeMap::new();
    let wanted =
        |run: &SuiteRun| args.requirements.is_empty() || args.requirements.iter().any(|it| run.requires(it.as_str()));
    for run in runs(&suite.described.join("runs.yaml"))?.into_iter().filter(wanted) {
        progress(&format!("running {run}"));
        let ours = if run.is_server() { &server } else { &client };
        outcomes.insert(run.to_string(), run.execute(&suite, ours).await?);
    }
    let json = || serde_json::to_string_pretty(&outcomes).unwrap_or_default() + "\n";
    // The reader may have closed the pipe, as in `| head`.
    let _ = io::stdout().write_all(if args.json { json() } else { table(&outcomes) }.as_bytes());
    for outcome in outcomes.values().filter(|outcome| !outcome.success) {
        let _ = writeln!(io::stderr(), "{}", outcome.text);
    }
    Ok(outcomes.values().all(|outcome| outcome.success))
}

fn runs(path: &Path) -> Result<Vec<SuiteRun>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    let runs: Runs = yaml_serde::from_str(&text).map_err(|error| Error::malformed(path, error))?;
    let server = runs.server.into_iter().map(SuiteRun::of_server);
    Ok(server.chain(runs.client.into_iter().map(SuiteRun::of_client)).collect())
}

fn table(outcomes: &BTreeMap<String, Outcome>) -> String {
    let mut table =
        "| run | scenarios passed | failed | known to fail | failed, not required |\n|---|---:|---:|---:|---:|\n"
            .to_owned();
    for (run, outcome) in outcomes {
        let counted = [&outcome.passed, &outcome.failed, &outcome.known, &outcome.optional];
        let [passed, failed, known, optional] = counted.map(Vec::len);
        table += &format!("| {run} | {passed} | {failed} | {known} | {optional} |\n");
    }
    table
}
