//! Execution of the shell's commands.

use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime::{ClientSide, Peer};

use crate::args::{Argument, Format, ShellCommand, argument, json};
use crate::client::{self, ResultWriter};
use crate::error::{CommandError, Summary};
use crate::paint::Paint;

/// Runs a command in the session.
pub async fn run(
    command: ShellCommand,
    format: Format,
    peer: &Peer<ClientSide>,
    output: &mut impl Paint,
) -> Result<Summary, CommandError> {
    let shown = &mut ResultWriter { format, output };
    match command {
        ShellCommand::Inspect => client::inspect_with(peer, shown).await,
        ShellCommand::Tool { tool } => client::tool_with(peer, &tool, shown).await,
        ShellCommand::Call { tool, arguments } => {
            let (json, pairs) = split(&arguments)?;
            let called = client::with_progress(peer, async |peer| {
                client::call_with(peer, &tool, json.as_ref(), &pairs, shown).await
            });
            called.await
        }
        ShellCommand::Read { uri } => client::read_with(peer, &uri, shown, true).await,
        ShellCommand::Prompt { name, arguments } => client::prompt_with(peer, &name, &arguments, shown).await,
        ShellCommand::Request { method, params } => client::request_with(peer, &method, params, shown).await,
        ShellCommand::Ping => client::ping_with(peer, 1, shown.output).await,
        ShellCommand::SetLevel { level } => client::set_level_with(peer, level.as_str()).await,
        ShellCommand::Quit => Ok(Summary::AllSucceeded),
    }
}

/// Splits arguments into one JSON object and named arguments.
fn split(arguments: &[String]) -> Result<(Option<RawObject>, Vec<Argument>), CommandError> {
    let wrong = |text: &str, reason: String| {
        CommandError::Argument(format!(
            "{text:?}: {reason}; arguments are NAME=VALUE, NAME:=JSON, or one JSON object"
        ))
    };
    let is_object = |text: &&String| text.starts_with(['{', '@']);
    let (objects, named): (Vec<&String>, Vec<&String>) = arguments.iter().partition(is_object);
    let ([] | [_]) = objects.as_slice() else {
        return Err(CommandError::Argument("there is more than one JSON object".to_owned()));
    };
    let object = objects
        .first()
        .map(|text| json(text).map_err(|reason| wrong(text, reason)));
    let named = named
        .into_iter()
        .map(|text| argument(text).map_err(|reason| wrong(text, reason)));
    Ok((object.transpose()?, named.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ArgumentValue;

    #[test]
    fn arguments_are_named_or_one_json_object() {
        let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let (object, named) = split(&texts(&["a=b=c", "{\"d\":1}", "e:=[2]"])).expect("they are right");
        assert_eq!(object.expect("there is one").text(), "{\"d\":1}");
        let json = mcp_adapters::mcp_wire::from_str("[2]").expect("it is JSON");
        let expected = [
            ("a", ArgumentValue::Typed("b=c".to_owned())),
            ("e", ArgumentValue::Json(json)),
        ];
        let expected = expected.map(|(name, value)| Argument {
            name: name.to_owned(),
            value,
        });
        assert_eq!(named, expected);
        let (none, empty) = split(&[]).expect("there are none");
        assert!(none.is_none() && empty.is_empty());
        for (wrong, reason) in [
            (&["a"][..], "\"a\": there is no `=`"),
            (&["{}", "{}"], "more than one JSON object"),
            (&["{\"a\"}"], "{"),
            (&["a:=[1"], "\"a:=[1\": "),
            (&["@/none.json"], "/none.json: "),
        ] {
            let refused = split(&texts(wrong)).expect_err("it is wrong").to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
