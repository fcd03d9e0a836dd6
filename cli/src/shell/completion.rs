//! Completion with the tab key: commands, names, arguments and their values.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::CommandFactory;
use futures_util::TryStreamExt;
use mcp_runtime::hub::{
    ClientRequest, CompleteRequestParams, CompleteRequestParamsArgument, Prompt, PromptReference, Resource,
    ServerResult, Tool,
};
use mcp_runtime::{CallServer, ClientSide, Paginated, Peer};
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::args::ShellLine;
use crate::plain::plain;

/// The time to wait for suggestions of the server.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum number of items of a list that are completed.
const ITEMS: usize = 1000;

/// The items of the server that can be completed.
#[derive(Clone, Default)]
pub struct Offered(Arc<Mutex<Lists>>);

#[derive(Default)]
struct Lists {
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
}

impl Offered {
    /// Requests the lists from the server. A list that fails is empty.
    pub async fn update(&self, peer: &Peer<ClientSide>) {
        let (tools, prompts, resources) = (list(peer).await, list(peer).await, list(peer).await);
        *self.lists() = Lists {
            tools,
            prompts,
            resources,
        };
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The candidates for the last word, after these words.
    fn candidates(&self, words: &[&str], last: &str) -> Vec<String> {
        let lists = self.lists();
        match words {
            [] | ["help"] => ShellLine::command()
                .get_subcommands()
                .map(|command| command.get_name().to_owned())
                .collect(),
            ["call" | "tool"] => lists.tools.iter().map(|tool| tool.name.clone()).collect(),
            ["prompt"] => lists.prompts.iter().map(|prompt| prompt.name.clone()).collect(),
            ["read"] => lists.resources.iter().map(|resource| resource.uri.clone()).collect(),
            ["call", name, ..] => {
                let tool = lists.tools.iter().find(|tool| tool.name == *name);
                let schema = tool.and_then(|tool| tool.input_schema.parse().ok());
                arguments(&schema.unwrap_or_default(), last)
            }
            ["prompt", name, ..] => {
                let prompt = lists.prompts.iter().find(|prompt| prompt.name == *name);
                let arguments = prompt.and_then(|prompt| prompt.arguments.as_ref());
                let names = arguments.into_iter().flatten();
                names.map(|argument| format!("{}=", argument.name)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The first items of a list.
async fn list<T: Paginated<ClientRequest, ServerResult> + Send + 'static>(peer: &Peer<ClientSide>) -> Vec<T> {
    let mut items = Vec::new();
    let mut all = peer.list();
    while let Ok(Some(item)) = all.try_next().await
        && items.len() < ITEMS
    {
        items.push(item);
    }
    items
}

/// The arguments of a tool, or the values of the argument being typed, if its schema lists them.
fn arguments(schema: &Value, last: &str) -> Vec<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    match last.split_once('=') {
        None => properties.map(|(name, _)| format!("{name}=")).collect(),
        Some((name, _)) => {
            let property = &schema["properties"][name];
            let values = match (property["enum"].as_array(), property["type"].as_str()) {
                (Some(values), _) => values.clone(),
                (None, Some("boolean")) => vec![Value::Bool(true), Value::Bool(false)],
                _ => Vec::new(),
            };
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            values.iter().map(|value| format!("{name}={}", text(value))).collect()
        }
    }
}

/// Completes lines of the shell.
pub struct Completion {
    peer: Peer<ClientSide>,
    offered: Offered,
    runtime: Handle,
}

impl Completion {
    pub fn new(peer: Peer<ClientSide>, offered: Offered) -> Self {
        let runtime = Handle::current();
        Self { peer, offered, runtime }
    }

    /// The values of a prompt's argument that the server suggests.
    fn suggested(&self, prompt: &str, name: &str, value: &str) -> Vec<String> {
        let argument = CompleteRequestParamsArgument::new(name, value);
        let params = CompleteRequestParams::new(argument, PromptReference::new(prompt));
        let answer = async { tokio::time::timeout(PATIENCE, self.peer.complete(params)).await };
        match self.runtime.block_on(answer) {
            Ok(Ok(result)) => {
                let values = result.completion.values.iter();
                values.map(|value| format!("{name}={value}")).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = &line[..position];
        let start = typed.rfind(' ').map_or(0, |space| space + 1);
        let last = &typed[start..];
        let words: Vec<&str> = typed[..start].split_whitespace().collect();
        let mut candidates = match (words.as_slice(), last.split_once('=')) {
            (["prompt", prompt, ..], Some((name, value))) => self.suggested(prompt, name, value),
            _ => self.offered.candidates(&words, last),
        };
        // Names that would change what the terminal does, or that need quotes, have to be typed in full.
        candidates.retain(|it| it.starts_with(last) && plain(it) == *it && !it.contains(char::is_whitespace));
        candidates.sort();
        candidates.dedup();
        Ok((start, candidates.into_iter().map(completed).collect()))
    }
}

/// A candidate, followed by a space unless a value has to follow.
fn completed(candidate: String) -> Pair {
    let end = if candidate.ends_with('=') { "" } else { " " };
    Pair {
        replacement: format!("{candidate}{end}"),
        display: candidate,
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn candidates_depend_on_the_command_and_the_words_before() {
        let schema = json!({"properties": {"unit": {"enum": ["C", "F"]}, "exact": {"type": "boolean"}, "city": {"type": "string"}}});
        let prompt = Prompt::new("report").with_arguments(vec![mcp_runtime::hub::PromptArgument::new("city")]);
        let offered = Offered::default();
        *offered.lists() = Lists {
            tools: vec![Tool::new("weather", schema)],
            prompts: vec![prompt],
            resources: vec![Resource::new("Bern", "weather://bern")],
        };
        for (words, last, expected) in [
            (&["call"][..], "", &["weather"][..]),
            (&["tool"], "", &["weather"]),
            (&["call", "weather"], "", &["city=", "exact=", "unit="]),
            (&["call", "weather"], "unit=", &["unit=C", "unit=F"]),
            (&["call", "weather", "unit=C"], "exact=", &["exact=true", "exact=false"]),
            (&["call", "weather"], "city=", &[]),
            (&["call", "none"], "", &[]),
            (&["prompt"], "", &["report"]),
            (&["prompt", "report"], "", &["city="]),
            (&["read"], "", &["weather://bern"]),
            (&["ping"], "", &[]),
        ] {
            assert_eq!(offered.candidates(words, last), expected, "{words:?} {last}");
        }
        assert!(offered.candidates(&[], "").contains(&"set-level".to_owned()));
        for (candidate, expected) in [("weather", "weather "), ("city=", "city="), ("unit=C", "unit=C ")] {
            assert_eq!(completed(candidate.to_owned()).replacement, expected);
        }
    }
}
