//! `mcp-rev shell`

mod completion;
mod editor;
mod line;
mod words;

use std::io::IsTerminal;

use clap::Parser;
use futures_util::{FutureExt, StreamExt};
use mcp_runtime::{ChangeFilter, ClientSide, Peer, Revision};

use self::completion::{Completion, Offered};
use self::editor::Editor;
use crate::args::{ShellArgs, ShellCommand, ShellLine};
use crate::client::{begin, block_on};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;
use crate::text::{one_line, say};

/// The exit status of errors that end the session.
const NO_SESSION: u8 = 3;

/// Runs commands line by line, until the user or the server ends the session.
pub fn shell(args: &ShellArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    block_on(async {
        let session = begin(&args.client).await?;
        let peer = session.peer().clone();
        let offered = Offered::default();
        offered.update(&peer).await;
        let mut changes = peer.changes(ChangeFilter::lists()).await.ok();
        let mut editor = Editor::new(Completion::new(peer.clone(), offered.clone()), args.history.as_deref())?;
        let is_terminal = std::io::stdin().is_terminal();
        if is_terminal {
            greet(&peer);
        }
        let mut summary = Summary::AllSucceeded;
        for number in 1_u64.. {
            let line;
            (editor, line) = editor.read().await?;
            let Some(line) = line else { break };
            // On a terminal, an error appears directly below its line, so the line number is omitted.
            let say = |error: &str| match is_terminal {
                true => say(error),
                false => say(&error.replacen("error: ", &format!("error: line {number}: "), 1)),
            };
            let command = match line.and_then(|line| parsed(&line)) {
                Ok(command) => command,
                Err(error) => {
                    summary = Summary::SomeFailed;
                    say(&error);
                    continue;
                }
            };
            let Some(command) = command else { continue };
            if matches!(command, ShellCommand::Quit) {
                break;
            }
            match run(command, args, &peer, &mut output).await {
                Ok(Summary::AllSucceeded) => {}
                Ok(Summary::SomeFailed) => summary = Summary::SomeFailed,
                Err(error) if error.exit_code() == NO_SESSION => return Err(error),
                Err(error) => {
                    summary = Summary::SomeFailed;
                    say(&error.for_people());
                }
            }
            let changed = changes.as_mut().and_then(|changes| changes.next().now_or_never());
            if changed.flatten().is_some() {
                offered.update(&peer).await;
            }
        }
        session.close().await;
        // A user at a terminal has already seen the errors.
        Ok(if is_terminal { Summary::AllSucceeded } else { summary })
    })
}

/// Prints the name of the server and how to get help.
fn greet(peer: &Peer<ClientSide>) {
    let server = peer.info().and_then(|info| info.implementation.as_ref());
    let server = server.map_or_else(String::new, |server| {
        format!("{} {}, ", one_line(&server.name), one_line(&server.version))
    });
    let revision = peer.revision().map_or("", Revision::as_str);
    say(&format!(
        "{server}revision {revision}. `help` lists the commands, and the tab key completes."
    ));
}

/// Parses a line into a command; `None` if it is empty, or if help was printed.
fn parsed(line: &str) -> Result<Option<ShellCommand>, String> {
    let words = words::words(line).ok_or("error: a quote isn't closed")?;
    if words.is_empty() {
        return Ok(None);
    }
    match ShellLine::try_parse_from(words) {
        Ok(line) => Ok(Some(line.command)),
        Err(error) => {
            let text = error.render().to_string().trim_end().to_owned();
            if error.use_stderr() {
                return Err(text);
            }
            say(&text);
            Ok(None)
        }
    }
}

/// Runs a command, unless the user interrupts it.
async fn run(
    command: ShellCommand,
    args: &ShellArgs,
    peer: &Peer<ClientSide>,
    output: &mut impl Paint,
) -> Result<Summary, CommandError> {
    let done = tokio::select! {
        done = line::run(command, args.client.format, peer, output) => done?,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            say("[cancelled]");
            Summary::SomeFailed
        }
    };
    output.flush()?;
    Ok(done)
}
