//! Tasks of clients whose revision has them in its core.
//!
//! They ask for a task, ask for its result by a request of its own, which also brings them what the task asks, and list their tasks.
//! What all of that is called is in the extension's schema folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use mcp_adapters::{Policy, Revision, peers};
use mcp_ext_tasks::{CancelTaskRequest, EXTENSION, GetTaskRequest};
use mcp_runtime_core::internal::{internal_error, invalid_params, to_hub};
use mcp_runtime_core::mcp_wire::{Extra, RawJson, Request, from_str};
use mcp_runtime_core::{CallClient, CallError, ErrorObject, hub};
use mcp_runtime_router::{Call, CoreMethods};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::encoded;
use crate::record::{State, TaskRecord};
use crate::store::Tasks;

/// The tasks on a page of a list.
const PAGE: usize = 100;

/// How those revisions say it.
pub(crate) static CORE: LazyLock<Core> =
    LazyLock::new(|| serde_json::from_str(mcp_ext_tasks::CORE).expect("a test reads the names of tasks in the core"));

/// What tasks and their parts are called in the core of a revision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Core {
    pub(crate) parameter: String,
    ttl: String,
    created: String,
    members: BTreeMap<String, String>,
    without: BTreeSet<String>,
    methods: Methods,
    list: String,
    cursor: String,
    next: String,
    related: Related,
    capabilities: Value,
    pub(crate) support: Support,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Methods {
    result: String,
    list: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Related {
    key: String,
    id: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Support {
    pub(crate) member: String,
    pub(crate) optional: Value,
    pub(crate) required: Value,
}

impl Core {
    /// Whether the core of a revision has tasks.
    pub(crate) fn has_tasks(&self, revision: Revision) -> bool {
        revision.method(&self.methods.result).is_some()
    }

    pub(crate) fn methods(&'static self) -> CoreMethods {
        let Methods { result, list } = &self.methods;
        CoreMethods {
            methods: vec![GetTaskRequest::METHOD, CancelTaskRequest::METHOD, result, list],
            capabilities: self.capabilities.clone(),
        }
    }

    /// How long a task may be kept that a call asks for; `None` if it asks for none.
    pub(crate) fn asked(&self, call: &Call) -> Option<Option<Duration>> {
        // The hub lacks the parameter, so it is only in what the client sent.
        let asked = call.original_params()?.get(&self.parameter)?;
        let ttl = asked.get(&self.ttl).and_then(|ttl| ttl.parse::<u64>().ok());
        Some(ttl.map(Duration::from_millis))
    }

    /// A task as the core has it.
    fn task(&self, task: &TaskRecord) -> Result<Extra, ErrorObject> {
        let state: Extra = encoded(&task.result()?)?.decode_as().map_err(internal_error)?;
        let members = state.into_iter().filter(|(member, _)| !self.without.contains(member));
        let named = members.map(|(member, value)| (self.members.get(&member).cloned().unwrap_or(member), value));
        Ok(named.collect())
    }

    /// The answer to a call that asks for a task.
    pub(crate) fn created(&self, task: &TaskRecord) -> Result<RawJson, ErrorObject> {
        encoded(&Extra::from([(&*self.created, encoded(&self.task(task)?)?)]))
    }

    /// JSON of a message about a task, whose `_meta`, at `path`, names it.
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

impl Tasks {
    /// Answers a request of a client whose revision has tasks in its core.
    ///
    /// # Errors
    /// Those that the client gets.
    pub(crate) async fn answer_of_core(
        &self,
        method: &'static str,
        params: &Value,
        call: &Call,
    ) -> Result<RawJson, ErrorObject> {
        if method == CORE.methods.list {
            return self.list_of_core(params, call);
        }
        let id = params[&CORE.related.id].as_str();
        let id = id.ok_or_else(|| invalid_params(format!("`{}` is required", CORE.related.id)))?;
        let task = self.find(id, call.principal()).await?;
        match method {
            GetTaskRequest::METHOD => encoded(&CORE.task(&task)?),
            CancelTaskRequest::METHOD if task.has_ended() => Err(invalid_params("the task has ended")),
            CancelTaskRequest::METHOD => encoded(&CORE.task(&self.cancel(task).await?)?),
            _ => self.result_of_core(task, call).await,
        }
    }

    /// The tasks of a client that this instance began. Where no principal is known, there is no saying whose they are.
    fn list_of_core(&self, params: &Value, call: &Call) -> Result<RawJson, ErrorObject> {
        let after = params[&CORE.cursor].as_str();
        let mut tasks = match call.principal() {
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

    /// Waits for the end of a task, asks the client what the task asks meanwhile, and gives the result.
    async fn result_of_core(&self, mut task: TaskRecord, call: &Call) -> Result<RawJson, ErrorObject> {
        let mut watch = self.watch([&*task.id]);
        // What was answered may still be asked for a while.
        let mut asked = BTreeSet::new();
        loop {
            // It may have changed before it was watched.
            task = self.find(&task.id, call.principal()).await?;
            if let State::Working { asks } = &task.state {
                let new = asks.iter().filter(|(name, _)| !asked.contains(*name));
                let new: Vec<(String, hub::InputRequest)> =
                    new.map(|(name, request)| (name.to_owned(), request.clone())).collect();
                for (name, request) in new {
                    let answer = ask(call, &task.id, request).await.map_err(internal_error)?;
                    self.answer(&task, [(name.clone(), answer)].into_iter().collect())
                        .await?;
                    asked.insert(name);
                }
            }
            match &task.state {
                State::Completed { result } => return result_in(call, &task.id, result.clone().into()),
                State::Failed { error } => {
                    let mut failed = ErrorObject::new(error.code, error.message.clone());
                    failed.data.clone_from(&error.data);
                    return Err(failed);
                }
                State::Cancelled => return Err(invalid_params("the task was cancelled")),
                State::Working { .. } => {
                    watch.next().await;
                }
            }
        }
    }
}

/// Asks the client something, by a request that names the task.
async fn ask(call: &Call, id: &str, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
    let json = serde_json::to_value(&request).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    let named = CORE.related(json, "/params", id);
    let request = from_str(&named.to_string()).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    call.peer().request(request).await
}

/// A result in the client's revision.
fn result_in(call: &Call, id: &str, result: RawJson) -> Result<RawJson, ErrorObject> {
    let revision = call.revision().unwrap_or(Revision::HUB);
    let result = match to_hub(&EXTENSION, "CallToolResult", &result) {
        Ok(result) => {
            let converted =
                peers::server_result_for(revision, &hub::ServerResult::CallTool(result), Policy::Conform.into());
            let (result, losses) = converted.map_err(internal_error)?;
            let method = hub::CallToolRequest::METHOD;
            call.peer().state().report_losses(method, &losses);
            result
        }
        // A function has given it in the client's revision.
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
    fn the_names_are_those_of_some_revision_that_has_its_own_tasks() {
        let revisions: Vec<Revision> = Revision::all().filter(|revision| CORE.has_tasks(*revision)).collect();
        assert!(!revisions.is_empty());
        for revision in revisions {
            for method in CORE.methods().methods {
                assert!(revision.method(method).is_some(), "{revision}: {method}");
            }
            let capabilities = CORE.capabilities.clone().into();
            let read = revision.read_server_capabilities(&capabilities);
            assert!(read.is_ok(), "{revision}: {read:?}");
        }
    }
}
