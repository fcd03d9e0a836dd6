//! What our client asks of a server and what must come of it, as data: interop/scripts.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_runtime::Revision;
use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::paths;

/// Everything that is tried with every peer, in this order; the last ones where there is no handshake.
const STEPS: [&str; 22] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "tools/call error",
    "tools/call structured",
    "progress",
    "cancel",
    "resources/list",
    "resources/read",
    "resources/templates",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "completion",
    "logging",
    "sampling",
    "roots",
    "elicitation",
    "list_changed",
    "rounds",
    "caching",
];

/// How many of them are only tried where there is no handshake.
const NEW_STEPS: usize = 2;

/// The steps of a session or of requests with this revision.
pub fn steps(revision: Revision) -> &'static [&'static str] {
    match revision.facts().initializes {
        true => &STEPS[..STEPS.len() - NEW_STEPS],
        false => &STEPS,
    }
}

/// What our client does with a kind of server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The names by which these servers introduce themselves.
    servers: Vec<String>,
    /// The capabilities that they declare.
    pub capabilities: Value,
    /// Each step but the first.
    steps: BTreeMap<String, StepPlan>,
    /// The steps that go otherwise without a handshake.
    #[serde(default)]
    stateless: BTreeMap<String, StepPlan>,
}

/// A step.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// Why these servers don't have it, if they don't.
    pub absent: Option<String>,
    /// A method, or a member `Definition.member`, without which the revision doesn't have it.
    pub needs: Option<String>,
    /// Why some of these servers don't list its tools; without this, all of them do.
    pub unlisted: Option<String>,
    /// What is done, one after the other.
    #[serde(default, rename = "do")]
    pub actions: Vec<Action>,
}

/// A part of a step.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Action {
    /// We call a method.
    Call(Call),
    /// We send a notification.
    Notify(Notify),
    /// We listen to changes, as long as the step lasts.
    Listen(Listen),
    /// The server must have sent a request or notification.
    Expect(Expect),
}

/// What we listen to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// The URIs of resources; nothing for the lists.
    pub listen: Vec<String>,
}

/// A notification of ours.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notify {
    /// The method.
    pub notify: String,
}

/// A call, and its expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The method.
    pub call: String,
    /// Its parameters.
    pub params: Option<Value>,
    /// A pattern for the result.
    pub result: Option<Value>,
    /// A pattern for the error that comes instead.
    pub error: Option<Value>,
    /// An error must come, or the result of a tool that says it is one.
    #[serde(default)]
    pub refused: bool,
    /// It is called again for some seconds until the result is as it should be.
    #[serde(default)]
    pub eventually: bool,
    /// The progress that must be reported.
    pub progress: Option<Vec<f64>>,
    /// The answer may come before the last report, because they come by different streams of HTTP.
    #[serde(default)]
    pub overtakes: bool,
    /// The call is cancelled as soon as the server has had time to begin.
    #[serde(default)]
    pub cancel: bool,
}

/// A request or notification that the server must have sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The method.
    pub expect: String,
    /// A pattern for its parameters.
    pub with: Option<Value>,
    /// How often, at least.
    #[serde(default = "once")]
    pub times: usize,
    /// How long to wait for it, in seconds.
    #[serde(default = "seconds")]
    pub within: u64,
    /// It counts also if it came before the step.
    #[serde(default)]
    pub ever: bool,
}

fn once() -> usize {
    1
}

fn seconds() -> u64 {
    5
}

impl Script {
    /// All scripts.
    pub fn all() -> Result<Vec<Self>, Error> {
        let directory = paths::in_workspace("interop/scripts");
        let mut scripts = Vec::new();
        for entry in std::fs::read_dir(&directory).map_err(Error::io(&directory))? {
            let path = entry.map_err(Error::io(&directory))?.path();
            scripts.push(Self::read(&path, &STEPS, str::to_owned)?);
        }
        Ok(scripts)
    }

    /// The script in a file, whose text is filled in first, and whose steps must be among these.
    pub fn read(path: &Path, steps: &[&str], fill_in: impl FnOnce(&str) -> String) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        let script: Self = yaml_serde::from_str(&fill_in(&text)).map_err(|error| Error::malformed(path, error))?;
        let mut names = script.steps.keys().chain(script.stateless.keys());
        match names.find(|step| !steps.contains(&step.as_str())) {
            Some(step) => Err(Error::malformed(path, format!("there is no step {step:?}"))),
            None => Ok(script),
        }
    }

    /// Whether it is for a server of this name.
    pub fn is_for(&self, server: &str) -> bool {
        self.servers.iter().any(|name| name == server)
    }

    /// What is done in a step when this revision was agreed on.
    pub fn step(&self, name: &str, revision: Revision) -> Option<&StepPlan> {
        let other = self.stateless.get(name).filter(|_| !revision.facts().initializes);
        other.or_else(|| self.steps.get(name))
    }
}

impl StepPlan {
    /// The tools that it calls.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().filter_map(|action| match action {
            Action::Call(Call {
                call,
                params: Some(params),
                refused: false,
                ..
            }) if call == "tools/call" => params["name"].as_str(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_says_something_about_every_step() {
        let scripts = Script::all().unwrap();
        assert!(!scripts.is_empty());
        for script in scripts {
            // Those for an era that these servers don't speak may be missing.
            let steps = script
                .steps
                .keys()
                .map(String::as_str)
                .chain(STEPS[1..STEPS.len() - NEW_STEPS].iter().copied());
            for step in steps {
                let plan = script.steps.get(step);
                let plan = plan.unwrap_or_else(|| panic!("{:?} say nothing about {step}", script.servers));
                assert_ne!(
                    plan.absent.is_some(),
                    !plan.actions.is_empty(),
                    "{:?}: {step}",
                    script.servers
                );
            }
        }
    }
}
