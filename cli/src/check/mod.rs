//! `mcp-rev check`

mod example;
mod junit;
mod record;
mod report;
mod transcript;
mod usage;
mod validation;

use std::io::Write;
use std::sync::Arc;

use mcp_runtime::hub::LoggingLevel;

use self::record::Record;
use self::report::Report;
use self::usage::{Arguments, Declining};
use self::validation::validate;
use crate::args::{CheckArgs, ReportFormat};
use crate::client::{block_on, connect_watched};
use crate::error::{CommandError, Summary};

/// Uses what a server offers, or reads what one has sent, and validates each message of it by the schema of the revision.
pub fn check(args: &CheckArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let arguments = Arguments::read(args.arguments.as_deref())?;
    let reports = match &args.transcript {
        Some(file) => transcript::reports(file)?,
        None => vec![block_on(use_and_validate(args, &arguments))?],
    };
    match args.format {
        ReportFormat::Text => report::write_text(&reports, &mut output)?,
        ReportFormat::Json => report::write_json(&reports, args.transcript.is_some(), &mut output)?,
        ReportFormat::Junit => junit::write(&reports, &mut output)?,
    }
    output.flush()?;
    Ok(match reports.iter().map(Report::failed).sum() {
        0 => Summary::AllSucceeded,
        _ => Summary::SomeFailed,
    })
}

async fn use_and_validate(args: &CheckArgs, arguments: &Arguments) -> Result<Report, CommandError> {
    let record = Arc::new(Record::default());
    let watching = Arc::clone(&record);
    let timeout = args.server.timeout(false);
    let watch = move |way, json: &[u8]| watching.add(way, json);
    let connected = connect_watched(&args.server, Declining, Some(LoggingLevel::Debug), timeout, watch).await;
    let session = match connected {
        Ok(session) => session,
        // What a server says in a handshake may be what is wrong.
        Err(error) => {
            let Some(revision) = record.negotiated() else {
                return Err(error);
            };
            let mut report = validate(revision, &record);
            report.fail("session", &error);
            return Ok(report);
        }
    };
    let faults = usage::use_server(session.peer(), args, arguments).await;
    let server = session.peer().info().and_then(|info| info.implementation.clone());
    let revision = session.peer().revision().unwrap_or(mcp_adapters::Revision::HUB);
    session.close().await;
    let mut report = validate(revision, &record);
    report.server = server;
    for (case, finding) in faults {
        report.add(&case, finding);
    }
    Ok(report)
}
