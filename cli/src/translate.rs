//! `mcp-rev translate`

use std::io::{BufRead, Write};

use mcp_adapters::mcp_wire::{OpenJson, Path};
use mcp_adapters::{Loss, Policy, Revision, translatable, translate};
use serde::Serialize;

use crate::args::TranslateArgs;
use crate::lines::{Answer, CommandError, Outcome, answer_lines};

/// A value in another revision.
#[derive(Serialize)]
struct Translated {
    /// The definition that it is an instance of there, for lines that name theirs.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    definition: Option<&'static str>,
    value: OpenJson,
    losses: Vec<Lost>,
}

/// Something that was lost.
#[derive(Serialize)]
struct Lost {
    path: String,
    kind: &'static str,
    rule: &'static str,
}

impl From<Loss> for Lost {
    fn from(loss: Loss) -> Self {
        Self {
            path: loss.path.to_string(),
            kind: loss.kind.as_str(),
            rule: loss.rule,
        }
    }
}

/// Translates every line of `input`.
pub fn run(args: &TranslateArgs, input: impl BufRead, output: impl Write) -> Result<Outcome, CommandError> {
    let (from, to): (Revision, Revision) = (args.from.parse()?, args.to.parse()?);
    if let Some(name) = &args.definition
        && !translatable(from).any(|known| known == name)
    {
        return Err(CommandError::UnknownType {
            revision: from,
            name: name.clone(),
            known: translatable(from).collect(),
        });
    }
    let policy = if args.carry { Policy::Carry } else { Policy::Conform };
    answer_lines(
        input,
        output,
        args.definition.as_deref(),
        |name, json| match translate(from, to, name, json, policy) {
            Ok(translation) => Answer::good(Translated {
                definition: args.typed.then_some(translation.definition),
                value: translation.value,
                losses: translation.losses.into_iter().map(Lost::from).collect(),
            }),
            Err(error) => Answer::refused(Some(error.code()), error.path(), error.reason()),
        },
        |problem| Answer::refused(Some(problem.code), Path::default(), problem),
    )
}
