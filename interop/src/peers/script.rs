//! Scripts for our client: its requests to a server and the expected results, as data in interop/scripts.

use std::collections::BTreeMap;
use std::path::Path;

use mcp_runtime::Revision;
use serde::Deserialize;
use serde_json::Value;

use crate::error::Error;
use crate::paths;

/// The steps with every peer, in order; the last ones only without a handshake.
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

/// The number of steps that are only taken without a handshake.
const NEW_STEPS: usize = 2;

/// The steps for a revision.
pub fn steps(revision: Revision) -> &'static [&'static str] {
    match revision.facts().initializes {
        true => &STEPS[..STEPS.len() - NEW_STEPS],
        false => &STEPS,
    }
}

/// The script of our client for one kind of server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The names in the `serverInfo` of these servers.
    servers: Vec<String>,
    /// A pattern for the capabilities that they declare.
    pub capabilities: Value,
    /// The plans of all steps except the first.
    steps: BTreeMap<String, StepPlan>,
    /// The plans of steps that differ without a handshake.
    #[serde(default)]
    stateless: BTreeMap<String, StepPlan>,
}

/// The plan of a step.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepPlan {
    /// The reason why these servers don't support the step, if they don't.
    pub absent: Option<String>,
    /// A method, or a member `Definition.member`, that the revision must have for the step.
    pub needs: Option<String>,
    /// The reason why some of these servers don't list the tools of the step. Without it, all of them must list them.
    pub unlisted: Option<String>,
    /// The actions, in order.
    #[serde(default, rename = "do")]
    pub actions: Vec<Action>,
}

/// An action of a step.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Action {
    /// Our client calls a method.
    Call(Call),
    /// Our client sends a notification.
    Notify(Notify),
    /// Our client listens to changes until the end of the step.
    Listen(Listen),
    /// The server must have sent a request or notification.
    Expect(Expect),
}

/// A subscription to changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// The URIs of resources; empty for the list of tools.
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
    /// A pattern for the error, if the call must fail.
    pub error: Option<Value>,
    /// Whether the call must end in an error, or in a result with `isError`.
    #[serde(default)]
    pub refused: bool,
    /// Whether the call is repeated for some seconds until the result matches.
    #[serde(default)]
    pub eventually: bool,
    /// The progress that must be reported.
    pub progress: Option<Vec<f64>>,
    /// Whether the result may come before the last report, because they come on different HTTP streams.
    #[serde(default)]
    pub overtakes: bool,
    /// Whether the call is cancelled as soon as the server has had time to start it.
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
    /// The minimum number of times.
    #[serde(default = "once")]
    pub times: usize,
    /// The time limit, in seconds.
    #[serde(default = "seconds")]
    pub within: u64,
    /// Whether messages before the step count too.
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
    /// Reads all scripts.
    pub fn all() -> Result<Vec<Self>, Error> {
        let directory = paths::in_workspace("interop/scripts");
        let mut scripts = Vec::new();
        for entry in std::fs::read_dir(&directory).map_err(Error::io(&directory))? {
            let path = entry.map_err(Error::io(&directory))?.path();
            scripts.push(Self::read(&path, &STEPS, str::to_owned)?);
        }
        Ok(scripts)
    }

    /// Reads a script from a file. `fill_in` transforms its text first, and its steps must be among `steps`.
    pub fn read(path: &Path, steps: &[&str], fill_in: impl FnOnce(&str) -> String) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        let script: Self = yaml_serde::from_str(&fill_in(&text)).map_err(|error| Error::malformed(path, error))?;
        let mut names = script.steps.keys().chain(script.stateless.keys());
        match names.find(|step| !steps.contains(&step.as_str())) {
            Some(step) => Err(Error::malformed(path, format!("there is no step {step:?}"))),
            None => Ok(script),
        }
    }

    /// Whether the script is for a server with this name.
    pub fn is_for(&self, server: &str) -> bool {
        self.servers.iter().any(|name| name == server)
    }

    /// The plan of a step for a negotiated revision.
    pub fn step(&self, name: &str, revision: Revision) -> Option<&StepPlan> {
        let other = self.stateless.get(name).filter(|_| !revision.facts().initializes);
        other.or_else(|| self.steps.get(name))
    }
}

impl StepPlan {
    /// The tools that the step calls successfully.
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
    fn every_script_has_a_plan_for_every_step() {
        let scripts = Script::all().unwrap();
        assert!(!scripts.is_empty());
        for script in scripts {
            // Steps of an era that these servers don't support may be missing.
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
