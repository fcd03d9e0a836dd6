//! `mcp-rev replay`

mod difference;
mod player;
mod script;

use mcp_runtime::transport::inspect;

use self::player::play;
use crate::args::ReplayArgs;
use crate::client::{block_on, connect_to, log, show_messages};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;
use crate::report::{self, Report};
use crate::transcript::{self, Session};

/// Replays the client of recorded sessions, and reports where the server's messages differ.
pub fn replay(args: &ReplayArgs, output: impl Paint) -> Result<Summary, CommandError> {
    let sessions = chosen(args)?;
    log(&args.server);
    let reports = block_on(async {
        let mut reports = Vec::new();
        for session in &sessions {
            reports.push(play_one(args, session).await?);
        }
        Ok(reports)
    })?;
    Ok(report::write(&reports, args.format, true, output)?)
}

/// The sessions selected by the arguments.
fn chosen(args: &ReplayArgs) -> Result<Vec<Session>, CommandError> {
    let (sessions, others): (Vec<_>, Vec<_>) = transcript::read(&args.transcript)?.into_iter().partition(|session| {
        let revisions = &args.server.revisions;
        session.side == args.side
            && (args.sessions.is_empty() || args.sessions.contains(&session.number))
            && (revisions.is_empty() || revisions.contains(&session.revision))
    });
    if !sessions.is_empty() {
        return Ok(sessions);
    }
    Err(transcript::no_such_session(&args.transcript, &others))
}

async fn play_one(args: &ReplayArgs, session: &Session) -> Result<Report, CommandError> {
    let server = &args.server;
    let transport = inspect(connect_to(server).await?, show_messages(server));
    play(session, transport, &args.ignored, server.timeout(false)).await
}
