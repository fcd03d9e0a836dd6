//! Our server with the clients of every era, and our client with their servers.

mod calling;
mod case;
mod host;
mod known;
mod pattern;
mod report;
mod script;
mod serving;
mod steps;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::calling::ScriptContext;
pub use self::calling::begin;
pub use self::case::{Case, Mode, Sdk, Transport};
pub use self::host::ReceivedMessages;
use self::report::Row;
pub use self::report::{Status, Step};
pub use self::script::Script;
pub use self::steps::{ScriptRun, outcome};
use crate::args::PeersArgs;
use crate::eras::Era;
use crate::error::Error;
use crate::process::progress;
use crate::validation::{LogValidator, OurRole};
use crate::{example, wire};

/// The number of peers that run at a time.
const AT_ONCE: usize = 2;

/// The time limit for a peer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs every peer, and returns whether all succeeded.
pub async fn run(args: &PeersArgs) -> Result<bool, Error> {
    let eras = Era::of(&args.revisions)?;
    let mut cases = Vec::new();
    for era in eras {
        for case in Case::of(&Arc::new(era)) {
            let row = case.row()?;
            if args.only.as_ref().is_none_or(|word| row.mentions(word)) {
                cases.push((case, row));
            }
        }
    }
    if cases.is_empty() {
        return Err(Error::NoRow(args.only.clone().unwrap_or_default()));
    }
    install(&cases).await?;
    let environment = Arc::new(Environment::prepare(&cases).await?);
    let rows = play(cases, environment).await;

    let table = report::table(&rows);
    if let Some(path) = &args.markdown {
        std::fs::write(path, &table).map_err(Error::io(path))?;
    }
    let json = || serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n";
    // The reader may have closed the pipe, as in `| head`.
    let _ = io::stdout().write_all(if args.json { json() } else { table }.as_bytes());
    let failures = report::failures(&rows, &std::env::current_dir().unwrap_or_default());
    let _ = io::stderr().write_all(failures.as_bytes());
    Ok(rows.iter().all(Row::passed))
}

/// Installs the packages of the cases, one after the other.
async fn install(cases: &[(Case, Row)]) -> Result<(), Error> {
    for (index, (case, _)) in cases.iter().enumerate() {
        let is_first = cases
            .iter()
            .take(index)
            .all(|(other, _)| other.packages.installed != case.packages.installed);
        if is_first {
            case.packages
                .install(|what| progress(&format!("{}: {what}", case.era.revision)))
                .await?;
        }
        let logs = case.file("jsonl");
        let logs = logs.parent().unwrap_or(&logs);
        std::fs::create_dir_all(logs).map_err(Error::io(logs))?;
    }
    Ok(())
}

/// The data that all cases share.
struct Environment {
    /// The path of our server, if it is needed.
    everything: PathBuf,
    context: ScriptContext,
    validator: Arc<Mutex<LogValidator>>,
}

impl Environment {
    async fn prepare(cases: &[(Case, Row)]) -> Result<Self, Error> {
        let everything = if cases.iter().any(|(case, _)| case.ours == OurRole::Server) {
            progress("building our server");
            example::build("everything").await?
        } else {
            PathBuf::new()
        };
        let validator = Arc::new(Mutex::new(LogValidator::load()?));
        let context = ScriptContext {
            scripts: Script::all()?,
            declares: {
                let validator = Arc::clone(&validator);
                Box::new(move |revision, definition, member| locked(&validator).declares(revision, definition, member))
            },
        };
        Ok(Self {
            everything,
            context,
            validator,
        })
    }

    /// Runs one peer, and validates the messages that our side sent it.
    async fn play(&self, case: &Case, row: &mut Row) {
        let steps = &mut row.steps;
        let done = match case.ours {
            OurRole::Server => timeout(PATIENCE, serving::serve(case, &self.everything, steps)).await,
            OurRole::Client => timeout(PATIENCE, calling::call(case, &self.context, steps)).await,
        };
        let done = done.unwrap_or_else(|_| Err(format!("it took more than {PATIENCE:?}")));
        // A session that failed to start has no revision to validate.
        if let Err(reason) = done.and(self.validate(case, row)) {
            row.steps.push(Step::failed("the session", reason));
        }
        if let Err(error) = known::mark(case, &row.peer, &mut row.steps) {
            row.steps.push(Step::failed("expected-failures.yaml", error));
        }
        row.count();
    }

    fn validate(&self, case: &Case, row: &mut Row) -> Result<(), String> {
        let log = wire::read(Path::new(&row.log)).map_err(|error| error.to_string())?;
        let report = locked(&self.validator).validate(case.ours, &log);
        (row.sent, row.violations) = (report.checked, report.violations);
        let expected = case.revision();
        if report.negotiated.is_empty() || report.negotiated.iter().any(|found| *found != expected) {
            let found: Vec<String> = report.negotiated.iter().map(ToString::to_string).collect();
            return Err(format!("the peers agreed on [{}], not on {expected}", found.join(", ")));
        }
        Ok(())
    }
}

/// Runs all cases, some of them concurrently, and returns their rows in order.
async fn play(cases: Vec<(Case, Row)>, environment: Arc<Environment>) -> Vec<Row> {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut playing = JoinSet::new();
    for (index, (case, mut row)) in cases.into_iter().enumerate() {
        let (places, environment) = (Arc::clone(&places), Arc::clone(&environment));
        playing.spawn(async move {
            let _place = places.acquire().await;
            environment.play(&case, &mut row).await;
            let state = if row.passed() { "passed" } else { "FAILED" };
            progress(&format!("{} {} {}: {state}", row.revision, row.peer, row.transport));
            (index, row)
        });
    }
    let mut rows = Vec::new();
    while let Some(played) = playing.join_next().await {
        match played {
            Ok(played) => rows.push(played),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    rows.sort_by_key(|(index, _)| *index);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn locked(validator: &Mutex<LogValidator>) -> std::sync::MutexGuard<'_, LogValidator> {
    validator.lock().unwrap_or_else(PoisonError::into_inner)
}
