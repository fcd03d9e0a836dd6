//! Tasks of clients whose revision has them in its core.
//!
//! They request a task, and its result by a separate request, during which they also get the input requests of the
//! task. They can list their tasks. The names of all this are in the extension's schema folder.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::sync::LazyLock;
use std::task::Poll;
use std::time::Duration;

use mcp_adapters::{Policy, Revision, peers};
use mcp_ext_tasks::{CancelTaskRequest, EXTENSION, GetTaskRequest, TaskStatus};
use mcp_runtime_core::internal::{internal_error, invalid_params};
use mcp_runtime_core::mcp_wire::{DecodeError, Extra, Number, RawJson, RawObject, Request, from_str};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{CallClient, CallError, Context, ErrorObject, Peer, ServerSide, hub};
use mcp_runtime_router::{CoreMethods, to_hub};
use mcp_runtime_util::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::error::{encoded, restored};
use crate::record::{State, TaskRecord};
use crate::store::{Tasks, is_task_id};

/// The number of tasks on a page of a list.
const PAGE: usize = 100;

/// The names that those revisions use.
pub static CORE: LazyLock<Core> =
    LazyLock::new(|| serde_json::from_str(mcp_ext_tasks::CORE).expect("a test reads the names of tasks in the core"));

/// The names of tasks and their parts in the core of a revision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// The parameter by which a client requests a task.
    pub parameter: String,
    ttl: String,
    /// The member of a result that contains the new task.
    pub created: String,
    members: BTreeMap<String, String>,
    without: BTreeSet<String>,
    /// The requests that the extension lacks.
    pub methods: Methods,
    /// The notification of a task's state.
    pub status: String,
    list: String,
    cursor: String,
    /// The member of a page with the cursor of the next one.
    pub next: String,
    /// The reference of a message to its task.
    pub related: Related,
    /// The capabilities that a server declares.
    pub capabilities: Value,
    /// The JSON Pointer into the capabilities to the declaration that tool calls run as tasks.
    pub offered: String,
    /// The declaration of a tool that it runs as a task.
    pub support: Support,
}

/// Requests that the extension lacks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Methods {
    /// Requests the result of a task.
    pub result: String,
    /// Lists tasks.
    pub list: String,
}

/// The reference of a message to its task.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// The key in `_meta`.
    pub key: String,
    /// The member with the id, there and in parameters.
    pub id: String,
}

/// The declaration of a tool that it runs as a task.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// The member of the tool.
    pub member: String,
    /// The value for a tool that can run as a task.
    pub optional: Value,
    /// The value for a tool that runs only as a task.
    pub required: Value,
}

impl Support {
    /// Whether a tool declares that it can run as a task.
    pub fn is_declared(&self, tool: &hub::Tool) -> bool {
        let declared = tool
            .extra
            .get(&self.member)
            .and_then(|support| support.parse::<Value>().ok());
        declared.is_some_and(|declared| declared == self.optional || declared == self.required)
    }
}

impl Core {
    /// Whether the core of a revision has tasks.
    pub fn has_tasks(&self, revision: Revision) -> bool {
        revision.method(&self.methods.result).is_some()
    }

    /// Returns the requests about tasks.
    pub fn methods(&'static self) -> CoreMethods {
        let Methods { result, list } = &self.methods;
        CoreMethods {
            methods: vec![GetTaskRequest::METHOD, CancelTaskRequest::METHOD, result, list],
            capabilities: self.capabilities.clone(),
        }
    }

    /// Returns the lifetime of the task that a call requests; `None` if it requests no task.
    ///
    /// # Errors
    /// When the parameter isn't an object, or the lifetime isn't a number of milliseconds.
    pub(crate) fn asked(&self, call: &Context<ServerSide>) -> Result<Option<Option<Duration>>, ErrorObject> {
        // The hub lacks the parameter, so it is only in the original parameters, and the session hasn't checked it.
        let Some(asked) = call.original_params().and_then(|params| params.get(&self.parameter)) else {
            return Ok(None);
        };
        let invalid = |error: DecodeError| invalid_params(error.in_member(&self.parameter));
        let asked = asked.decode_as::<RawObject>().map_err(invalid)?;
        let Some(ttl) = asked.get(&self.ttl) else {
            return Ok(Some(None));
        };
        let ttl = ttl.decode_as::<Number>();
        let ttl = ttl.map_err(|error| invalid(error.in_member(&self.ttl)))?.as_f64();
        if ttl < 0.0 || ttl.fract() != 0.0 {
            let what = format!("`{}.{}`: expected milliseconds, found {ttl}", self.parameter, self.ttl);
            return Err(invalid_params(what));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a larger number is forever"
        )]
        Ok(Some(Some(Duration::from_millis(ttl as u64))))
    }

    /// Converts a task to the form of the core.
    fn task(&self, task: &TaskRecord) -> Result<Extra, ErrorObject> {
        let mut state: Extra = encoded(&task.result()?)?.decode_as().map_err(internal_error)?;
        // In these revisions, a task whose tool has failed has failed too. In the extension, it has completed.
        if let Some(error) = task.tool_error() {
            state.insert("status", json!(TaskStatus::Failed.as_str()));
            state.insert("statusMessage", json!(error));
        }
        let members = state.into_iter().filter(|(member, _)| !self.without.contains(member));
        let named = members.map(|(member, value)| (self.members.get(&member).cloned().unwrap_or(member), value));
        Ok(named.collect())
    }

    /// Converts a task from the form of the core to that of the extension, without the members that depend on its
    /// status.
    pub fn in_extension(&self, task: Extra) -> Extra {
        let name = |own: String| {
            let mut names = self.members.iter();
            names
                .find(|(_, core)| **core == own)
                .map_or(own.clone(), |(extension, _)| extension.clone())
        };
        task.into_iter().map(|(member, value)| (name(member), value)).collect()
    }

    /// Returns the task that the `_meta` of a message names.
    pub fn task_of(&self, meta: &RawObject) -> Option<String> {
        let id = meta.get(&self.related.key)?.parse::<Value>().ok()?;
        Some(id.get(&self.related.id)?.as_str()?.to_owned())
    }

    /// Removes the task from the `_meta` of the object at `path` in a message.
    pub fn unrelated(&self, mut message: Value, path: &str) -> Value {
        if let Some(Value::Object(members)) = message.pointer_mut(path)
            && let Some(Value::Object(meta)) = members.get_mut("_meta")
        {
            meta.remove(&self.related.key);
            if meta.is_empty() {
                members.remove("_meta");
            }
        }
        message
    }

    /// Returns the result of a call that requests a task.
    pub(crate) fn created(&self, task: &TaskRecord) -> Result<RawJson, ErrorObject> {
        encoded(&Extra::from([(&*self.created, encoded(&self.task(task)?)?)]))
    }

    /// Adds the task to the `_meta` of the object at `path` in a message.
    fn related(&self, mut message: Value, path: &str, id: &str) -> Value {
        if let Some(Value::Object(members)) = message.pointer_mut(path) {
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Value::Object(meta) = meta {
                meta.insert(self.related.key.clone(), json!({ &self.related.id: id }));
            }
        }
        message
    }
}

/// A client whose revision has tasks in its core.
#[derive(Debug, Clone, Copy)]
pub struct CoreClient<'c> {
    /// A handle of the client that belongs to its request.
    pub peer: &'c Peer<ServerSide>,
    /// The owner of the tasks that the client can see.
    pub owner: Option<&'c Principal>,
}

impl Tasks {
    /// Answers a request of a client whose revision has tasks in its core.
    ///
    /// # Errors
    /// The error of the response.
    pub(crate) async fn answer_of_core(
        &self,
        method: &str,
        params: &Value,
        client: CoreClient<'_>,
    ) -> Result<RawJson, ErrorObject> {
        if method == CORE.methods.list {
            return self.list_of_core(params, client.owner);
        }
        let id = params[&CORE.related.id].as_str();
        let id = id.ok_or_else(|| invalid_params(format!("`{}` is required", CORE.related.id)))?;
        let task = self.find(id, client.owner).await?;
        match method {
            GetTaskRequest::METHOD => encoded(&CORE.task(&task)?),
            CancelTaskRequest::METHOD if task.has_ended() => Err(invalid_params("the task has ended")),
            CancelTaskRequest::METHOD => encoded(&CORE.task(&self.cancel(task).await?)?),
            _ => {
                // A task that expires is removed without an end that could be reported.
                let result = timeout(task.remaining(), self.result_of_core(task, client)).await;
                result.unwrap_or_else(|_| Err(invalid_params("the task has expired")))
            }
        }
    }

    /// Lists the tasks of a client that this instance created. Without a principal, their owner isn't known, and the
    /// list is empty.
    fn list_of_core(&self, params: &Value, owner: Option<&Principal>) -> Result<RawJson, ErrorObject> {
        let after = match params.get(&CORE.cursor) {
            Some(cursor) => {
                let id = cursor.as_str().filter(|id| is_task_id(id));
                Some(id.ok_or_else(|| invalid_params("the cursor isn't one of this list"))?)
            }
            None => None,
        };
        let mut tasks = match owner {
            Some(owner) => self.list(owner, after, PAGE + 1),
            None => Vec::new(),
        };
        let has_more = tasks.len() > PAGE;
        tasks.truncate(PAGE);
        let next = tasks.last().filter(|_| has_more).map(|task| task.id.clone());
        let listed = tasks.iter().map(|task| CORE.task(task));
        let listed: Vec<Extra> = listed.collect::<Result<_, _>>()?;
        let mut page = Extra::from([(&*CORE.list, RawJson::from_serialize(&listed).map_err(internal_error)?)]);
        if let Some(next) = next {
            page.insert(&*CORE.next, json!(next));
        }
        encoded(&page)
    }

    /// Waits for the end of a task, passes its input requests on to the client meanwhile, and returns the result.
    async fn result_of_core(&self, mut task: TaskRecord, client: CoreClient<'_>) -> Result<RawJson, ErrorObject> {
        let mut watch = self.watch([&*task.id]);
        let mut asked = Asked::default();
        loop {
            // It may have changed before it was watched.
            task = self.find(&task.id, client.owner).await?;
            match &task.state {
                State::Completed { result } => return result_in(client.peer, &task.id, result.clone().into()),
                State::Failed { error } => return Err(restored(error.clone())),
                State::Cancelled => return Err(invalid_params("the task was cancelled")),
                State::Working { asks } => {
                    asked.follow(asks, |request| ask(client.peer.clone(), task.id.clone(), request))
                }
            }
            let (name, answer) = tokio::select! {
                _ = watch.next() => continue,
                answered = asked.next() => answered,
            };
            match answer {
                Ok(answer) => self.answer(&task, [(name, answer)].into_iter().collect()).await?,
                Err(error) if is_answer(&error) => self.refuse(&task, &name, error.into()).await?,
                Err(error) => return Err(internal_error(error)),
            }
        }
    }
}

/// The responses to the input requests of a task that were sent to the client, by name. One that has arrived is `None`:
/// answered input requests can remain in the state for a while.
#[derive(Default)]
struct Asked(BTreeMap<String, Option<Response>>);

type Response = BoxFuture<'static, Result<hub::InputResponse, CallError>>;

impl Asked {
    /// Sends new input requests, and cancels those for which the task no longer waits.
    fn follow<F>(&mut self, asks: &hub::InputRequests, ask: impl Fn(hub::InputRequest) -> F)
    where
        F: Future<Output = Result<hub::InputResponse, CallError>> + Send + 'static,
    {
        self.0.retain(|name, _| asks.contains_key(name));
        for (name, request) in asks.iter() {
            let response = || Some(Box::pin(ask(request.clone())) as Response);
            self.0.entry(name.to_owned()).or_insert_with(response);
        }
    }

    /// Waits for the next response.
    async fn next(&mut self) -> (String, Result<hub::InputResponse, CallError>) {
        poll_fn(|context| {
            for (name, response) in &mut self.0 {
                let polled = response.as_mut().map(|response| response.as_mut().poll(context));
                if let Some(Poll::Ready(answer)) = polled {
                    *response = None;
                    return Poll::Ready((name.clone(), answer));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Whether the error is an answer of the client. After any other error, the input request is sent again when the client
/// requests the result again.
fn is_answer(error: &CallError) -> bool {
    matches!(error, CallError::Peer(_) | CallError::InvalidResult(_))
}

/// Sends an input request, which names the task, to the client.
async fn ask(
    client: Peer<ServerSide>,
    id: String,
    request: hub::InputRequest,
) -> Result<hub::InputResponse, CallError> {
    let json = serde_json::to_value(&request).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    let named = CORE.related(json, "/params", &id);
    let request = from_str(&named.to_string()).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    client.request(request).await
}

/// Converts a result to the client's revision.
fn result_in(client: &Peer<ServerSide>, id: &str, result: RawJson) -> Result<RawJson, ErrorObject> {
    let revision = client.revision().unwrap_or(Revision::HUB);
    let result = match to_hub(&EXTENSION, "CallToolResult", &result) {
        Ok(result) => {
            let converted =
                peers::server_result_for(revision, &hub::ServerResult::CallTool(result), Policy::Conform.into());
            let (result, losses) = converted.map_err(internal_error)?;
            let method = hub::CallToolRequest::METHOD;
            client.state().report_losses(method, &losses);
            result
        }
        // The function returned it in the client's revision.
        Err(_) => result,
    };
    let result = result.parse::<Value>().map_err(internal_error)?;
    Ok(CORE.related(result, "", id).into())
}

#[cfg(test)]
mod tests {
    use mcp_adapters::PeerTypes;

    use super::*;

    #[test]
    fn the_names_of_core_tasks_exist_in_each_revision_with_tasks() {
        let revisions: Vec<Revision> = Revision::all().filter(|revision| CORE.has_tasks(*revision)).collect();
        assert!(!revisions.is_empty());
        for revision in revisions {
            for method in CORE.methods().methods {
                assert!(revision.method(method).is_some(), "{revision}: {method}");
            }
            assert!(revision.method(&CORE.status).is_some());
            assert!(CORE.capabilities.pointer(&CORE.offered).is_some());
            let capabilities = CORE.capabilities.clone().into();
            let read = revision.read_server_capabilities(&capabilities);
            assert!(read.is_ok(), "{revision}: {read:?}");
        }
    }
}
