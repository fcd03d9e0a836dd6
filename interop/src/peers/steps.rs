//! Execution of scripts.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::mcp_wire::{self, Message};
use mcp_runtime::{
    CallError, CallServer, ChangeFilter, Changes, ClientSide, Peer, Progress, Revision, UnknownMethod, hub,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::host::ReceivedMessages;
use super::pattern::departure;
use super::report::{Status, Step};
use super::script::{Action, Call, Expect, Listen, Notify, Script, StepPlan};

/// Whether a definition of a revision has a member.
pub type Declares = dyn Fn(Revision, &str, &str) -> bool + Send + Sync;

/// The time that a server has to start a call before the call is cancelled.
const BEGINNING: Duration = Duration::from_millis(500);

/// The number of retries for results that may take a while, and the pause between them.
const RETRIES: usize = 25;
const PAUSE: Duration = Duration::from_millis(200);

/// A session of our client, and the script for its server.
pub struct ScriptRun<'p> {
    pub peer: &'p Peer<ClientSide>,
    pub received: &'p Arc<ReceivedMessages>,
    pub script: &'p Script,
    /// The names of the steps, in order.
    pub names: &'p [&'static str],
    pub declares: &'p Declares,
}

impl ScriptRun<'_> {
    /// Takes all steps.
    pub async fn run(&self, steps: &mut Vec<Step>) {
        steps.push(self.initialized("initialize"));
        let listed = self.list_tools().await.unwrap_or_default();
        for &name in self.names.iter().skip(1) {
            steps.push(self.take(name, &listed).await);
        }
    }

    /// Takes a step with a server that lists these tools.
    pub async fn take(&self, name: &str, listed: &[String]) -> Step {
        let revision = self.peer.revision().unwrap_or(Revision::HUB);
        match self.script.step(name, revision) {
            None => Step::failed(name, "the script says nothing about it"),
            Some(plan) => self.step(name, plan, listed).await,
        }
    }

    /// Checks the capabilities that the server has declared.
    pub fn initialized(&self, name: &str) -> Step {
        let found = self
            .peer
            .info()
            .map(|info| info.capabilities.clone())
            .unwrap_or_default();
        outcome(name, departure(&self.script.capabilities, &found).map_or(Ok(()), Err))
    }

    async fn list_tools(&self) -> Result<Vec<String>, String> {
        let listed = self
            .call(&asking("tools/list", None))
            .await
            .map_err(|error| error.to_string())?;
        let tools = listed["tools"].as_array().into_iter().flatten();
        Ok(tools
            .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
            .collect())
    }

    async fn step(&self, name: &str, plan: &StepPlan, listed: &[String]) -> Step {
        let absent = |detail: &str| Step {
            step: name.to_owned(),
            status: Status::Absent,
            detail: detail.to_owned(),
        };
        if let Some(why) = &plan.absent {
            return absent(why);
        }
        if let Some(needs) = &plan.needs
            && !self.has(needs)
        {
            return absent(&format!("the revision has no {needs}"));
        }
        if let Some(why) = &plan.unlisted
            && plan.tools().any(|tool| !listed.iter().any(|listed| listed == tool))
        {
            return absent(why);
        }
        let before = self.received.len();
        let mut listening = Vec::new();
        for action in &plan.actions {
            let done = match action {
                Action::Call(call) => self
                    .try_until(call)
                    .await
                    .map_err(|reason| format!("{}: {reason}", named(call))),
                Action::Notify(notify) => self
                    .notify(notify)
                    .await
                    .map_err(|error| format!("{}: {error}", notify.notify)),
                Action::Listen(Listen { listen }) => self.listen(listen).await.map(|changes| listening.push(changes)),
                Action::Expect(expect) => self.expect(expect, before).await,
            };
            if done.is_err() {
                return outcome(name, done);
            }
        }
        outcome(name, Ok(()))
    }

    /// Whether the negotiated revision has a method, or a member `Definition.member`.
    fn has(&self, needs: &str) -> bool {
        let revision = self.peer.revision().unwrap_or(Revision::HUB);
        match needs.split_once('.') {
            Some((definition, member)) => (self.declares)(revision, definition, member),
            None => revision.method(needs).is_some(),
        }
    }

    /// Calls once, or repeatedly if the plan allows a delay.
    async fn try_until(&self, call: &Call) -> Result<(), String> {
        let mut done = self.try_call(call).await;
        for _ in 0..RETRIES {
            if done.is_ok() || !call.eventually {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            done = self.try_call(call).await;
        }
        done
    }

    async fn try_call(&self, call: &Call) -> Result<(), String> {
        if call.cancel {
            // Dropping the future of a call cancels the call.
            return match timeout(BEGINNING, self.call(call)).await {
                Err(_) => Ok(()),
                Ok(answer) => Err(format!("it was answered before it could be cancelled: {answer:?}")),
            };
        }
        let (sender, mut made) = mpsc::channel::<Progress>(64);
        let answer = match &call.progress {
            Some(_) => request(&self.peer.clone().with_progress(sender), call).await,
            None => self.call(call).await,
        };
        if let Some(expected) = &call.progress {
            made.close();
            let mut found = Vec::new();
            while let Some(progress) = made.recv().await {
                found.push(progress.progress);
            }
            let but_the_last = expected.split_last().map_or(&[][..], |(_, others)| others);
            if *expected != found && !(call.overtakes && but_the_last == found) {
                return Err(format!("expected progress {expected:?}, found {found:?}"));
            }
        }
        match (answer, &call.error) {
            (Err(CallError::Peer(_)), None) if call.refused => Ok(()),
            (Ok(result), None) if call.refused => departure(&json!({"isError": true}), &result).map_or(Ok(()), Err),
            (Err(CallError::Peer(error)), Some(pattern)) => {
                let found = serde_json::to_value(&error).unwrap_or_default();
                departure(pattern, &found).map_or(Ok(()), Err)
            }
            (Ok(result), None) => {
                let pattern = call.result.clone().unwrap_or_else(|| json!({}));
                departure(&pattern, &result).map_or(Ok(()), Err)
            }
            (Ok(result), Some(_)) => Err(format!("it should fail, and gave {result}")),
            (Err(error), _) => Err(error.to_string()),
        }
    }

    async fn notify(&self, notify: &Notify) -> Result<(), CallError> {
        if Revision::HUB.method(&notify.notify).is_none() {
            return self.peer.notify_unknown(UnknownMethod::new(&notify.notify)).await;
        }
        match message(json!({"method": notify.notify}))? {
            Message::Notification(notice) => self.peer.notify(notice.notification).await,
            _ => Err(wrong("the method isn't a notification")),
        }
    }

    /// Listens to changes of resources, or of the list of tools if there are none. The server must agree to all of
    /// them.
    async fn listen(&self, resources: &[String]) -> Result<Changes, String> {
        let filter = match resources {
            [] => ChangeFilter {
                tool_list: true,
                ..ChangeFilter::default()
            },
            resources => ChangeFilter {
                resources: resources.to_vec(),
                ..ChangeFilter::default()
            },
        };
        let changes = self.peer.changes(filter.clone()).await;
        let changes = changes.map_err(|error| format!("can't listen to changes: {error}"))?;
        match changes.acknowledged() {
            agreed if agreed == filter => Ok(changes),
            agreed => Err(format!("the server agreed to {agreed:?} only")),
        }
    }

    async fn expect(&self, expect: &Expect, before: usize) -> Result<(), String> {
        let after = if expect.ever { 0 } else { before };
        let pattern = expect.with.clone().unwrap_or_else(|| json!({}));
        let fits = |params: &Value| params.is_null() || departure(&pattern, params).is_none();
        let received = async {
            while self
                .received
                .of(&expect.expect, after)
                .iter()
                .filter(|params| fits(params))
                .count()
                < expect.times
            {
                self.received.more().await;
            }
        };
        timeout(Duration::from_secs(expect.within), received)
            .await
            .map_err(|_| {
                let found = Value::from(self.received.of(&expect.expect, after));
                format!(
                    "{} wasn't received {} times with {pattern}; received {found}",
                    expect.expect, expect.times
                )
            })
    }

    async fn call(&self, call: &Call) -> Result<Value, CallError> {
        request(self.peer, call).await
    }
}

/// Calls a method by its name.
async fn request(peer: &Peer<ClientSide>, call: &Call) -> Result<Value, CallError> {
    let mut params = call.params.clone().unwrap_or_else(|| json!({}));
    if Revision::HUB.method(&call.call).is_none() {
        let revision = peer.revision().unwrap_or(Revision::HUB);
        if revision.method(&call.call).is_none() {
            return Err(CallError::Unrepresentable(format!(
                "revision {revision} has no method {}",
                call.call
            )));
        }
        let request = UnknownMethod::new(&call.call).with_params(params);
        let result = peer.call_unknown(request).await?;
        return result
            .parse()
            .map_err(|error| CallError::InvalidResult(error.to_string()));
    }
    // The metadata of every request of the hub, unless the script overrides it.
    let mut meta = json!(hub::RequestMetaObject::default());
    if let (Some(meta), Some(own)) = (meta.as_object_mut(), params["_meta"].as_object()) {
        meta.extend(own.clone());
    }
    params["_meta"] = meta;
    let Message::Request(call) = message(json!({"id": 0, "method": call.call, "params": params}))? else {
        return Err(wrong("it calls what isn't a request"));
    };
    let result = CallServer::request(peer, call.request).await?;
    serde_json::to_value(&result).map_err(|error| CallError::InvalidResult(error.to_string()))
}

/// Decodes a message of our side from a script.
fn message(mut json: Value) -> Result<hub::ClientMessage, CallError> {
    json["jsonrpc"] = json!("2.0");
    mcp_wire::from_str(&json.to_string()).map_err(wrong)
}

fn wrong(reason: impl std::fmt::Display) -> CallError {
    CallError::Unrepresentable(format!("the script is wrong: {reason}"))
}

fn asking(method: &str, params: Option<Value>) -> Call {
    Call {
        call: method.to_owned(),
        params,
        result: None,
        error: None,
        refused: false,
        eventually: false,
        progress: None,
        overtakes: false,
        cancel: false,
    }
}

/// The name of a call in failures.
fn named(call: &Call) -> String {
    let name = call.params.as_ref().and_then(|params| params["name"].as_str());
    name.map_or_else(|| call.call.clone(), |name| format!("{} {name}", call.call))
}

/// The outcome of a step.
pub fn outcome(step: &str, done: Result<(), String>) -> Step {
    match done {
        Ok(()) => Step {
            step: step.to_owned(),
            status: Status::Ok,
            detail: String::new(),
        },
        Err(reason) => Step::failed(step, reason),
    }
}
