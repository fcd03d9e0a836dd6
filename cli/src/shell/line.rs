//! The commands of the shell.

use mcp_runtime::{ClientSide, Peer};

use crate::args::{Format, ShellCommand};
use crate::client::{self, Shown};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Runs a command in the session.
pub async fn run(
    command: ShellCommand,
    format: Format,
    peer: &Peer<ClientSide>,
    output: &mut impl Paint,
) -> Result<Summary, CommandError> {
    let shown = &mut Shown { format, output };
    match command {
        ShellCommand::Inspect => client::inspect_with(peer, shown).await,
        ShellCommand::Tool { tool } => client::tool_with(peer, &tool, shown).await,
        ShellCommand::Call { tool, arguments } => {
            let (json, pairs) = split(&arguments)?;
            let called = client::with_progress(peer, async |peer| {
                client::call_with(peer, &tool, json, &pairs, shown).await
            });
            called.await
        }
        ShellCommand::Read { uri } => client::read_with(peer, &uri, shown).await,
        ShellCommand::Prompt { name, arguments } => client::prompt_with(peer, &name, &arguments, shown).await,
        ShellCommand::Request { method, params } => client::request_with(peer, &method, params.as_deref(), shown).await,
        ShellCommand::Ping => client::ping_with(peer, 1, shown.output).await,
        ShellCommand::SetLevel { level } => client::set_level_with(peer, level.as_str()).await,
        ShellCommand::Quit => Ok(Summary::AllSucceeded),
    }
}

/// Names and values.
type Pairs = Vec<(String, String)>;

/// Arguments as one JSON object, and as pairs.
fn split(arguments: &[String]) -> Result<(Option<&str>, Pairs), CommandError> {
    let (json, pairs): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| argument.starts_with('{'));
    let pair = |text: &String| {
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    let pairs: Option<Pairs> = pairs.into_iter().map(pair).collect();
    match (json.as_slice(), pairs) {
        ([], Some(pairs)) => Ok((None, pairs)),
        ([json], Some(pairs)) => Ok((Some(json), pairs)),
        _ => Err(CommandError::Argument(
            "arguments are NAME=VALUE, or one JSON object".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_pairs_or_one_object() {
        let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let pair = ("a".to_owned(), "b=c".to_owned());
        let arguments = texts(&["a=b=c", "{\"d\":1}"]);
        assert_eq!(
            split(&arguments).expect("they are right"),
            (Some("{\"d\":1}"), vec![pair])
        );
        assert_eq!(split(&[]).expect("there are none"), (None, vec![]));
        for wrong in [&["a"][..], &["{}", "{}"]] {
            assert!(split(&texts(wrong)).is_err(), "{wrong:?}");
        }
    }
}
