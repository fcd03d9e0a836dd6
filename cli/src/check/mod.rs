//! `mcp-rev check`

mod example;
mod record;
mod usage;
mod validation;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::Request;
use mcp_runtime::ClientSession;
use mcp_runtime::hub::{ListToolsRequest, LoggingLevel};

pub use self::example::example;
use self::record::Record;
use self::usage::{Arguments, Declining, read_arguments};
use self::validation::validate;
use crate::args::CheckArgs;
use crate::client::{block_on, connect_watched};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;
use crate::report::{self, Report};
use crate::transcript;

/// The pause between attempts to reach a server.
const PAUSE: Duration = Duration::from_millis(200);

/// Uses what a server offers, or reads a transcript, and validates each message of the server against the schema of its
/// revision.
pub fn check(args: &CheckArgs, output: impl Paint) -> Result<Summary, CommandError> {
    let arguments = read_arguments(args.arguments.as_deref())?;
    let reports = match &args.transcript {
        Some(file) => recorded(file)?,
        None => vec![block_on(use_and_validate(args, &arguments))?],
    };
    let is_list = args.transcript.is_some();
    Ok(report::write(&reports, args.format, is_list, output)?)
}

/// Validates what the server sent to the bridge, and what the bridge sent to its clients. Returns a report for each
/// session.
fn recorded(file: &Path) -> Result<Vec<Report>, CommandError> {
    let sessions = transcript::read(file)?;
    if sessions.is_empty() {
        return Err(transcript::no_such_session(file, &sessions));
    }
    let reports = sessions.into_iter().map(|session| {
        let mut report = validate(session.revision, &session.messages, 0);
        report.session = Some(session.title());
        report
    });
    Ok(reports.collect())
}

async fn use_and_validate(args: &CheckArgs, arguments: &Arguments) -> Result<Report, CommandError> {
    let started = Instant::now();
    let may_wait = || started.elapsed() < Duration::from_secs(args.wait);
    let (record, connected) = loop {
        match connect(args).await {
            (record, Err(CommandError::Connect(_))) if record.negotiated().is_none() && may_wait() => {
                tokio::time::sleep(PAUSE).await;
            }
            connected => break connected,
        }
    };
    let session = match connected {
        Ok(session) => session,
        // The messages of the handshake may be what is invalid, so they are reported.
        Err(error) => {
            let Some(revision) = record.negotiated() else {
                return Err(error);
            };
            let mut report = validated(revision, &record);
            report.fail("session", &error.with_stderr());
            return Ok(report);
        }
    };
    let found = usage::use_server(session.peer(), args, arguments).await;
    let server = session.peer().info().and_then(|info| info.implementation.clone());
    let revision = session.peer().revision().unwrap_or(Revision::HUB);
    session.close().await;
    let mut report = validated(revision, &record);
    report.server = server;
    if let Some(error) = found.gone {
        report.fail("session", &CommandError::from(error).with_stderr());
    }
    for (case, finding) in found.faults {
        report.add(&case, finding);
    }
    for (case, reason) in found.unfinished {
        // The violations of a message say more.
        if report.cases.iter().any(|known| known.name == case && known.passed) {
            report.fail(&case, &reason);
        }
    }
    for (case, warning) in found.warnings {
        report.warn(&case, warning);
    }
    for case in found.cut {
        report.remark(&case, &format!("--limit cuts this list after {}", args.limit));
    }
    if found.uncalled > 0 {
        let note = match found.uncalled {
            1 => "1 tool that may change something isn't called".to_owned(),
            count => format!("{count} tools that may change something aren't called"),
        };
        report.remark(ListToolsRequest::METHOD, &format!("{note}; see --tools"));
    }
    Ok(report)
}

/// Starts a session whose messages are recorded.
async fn connect(args: &CheckArgs) -> (Arc<Record>, Result<ClientSession, CommandError>) {
    let record = Arc::new(Record::default());
    let watching = Arc::clone(&record);
    let watch = move |way, json: &[u8]| watching.add(way, json);
    let (level, timeout) = (Some(LoggingLevel::Debug), args.server.timeout(false));
    let connected = connect_watched(&args.server, Declining, level, timeout, watch).await;
    (record, connected)
}

fn validated(revision: Revision, record: &Record) -> Report {
    let (messages, left_out) = record.messages();
    validate(revision, &messages, left_out)
}
