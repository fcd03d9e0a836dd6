//! A server's responses to requests about tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::stream::unfold;
use mcp_ext_tasks::{
    CancelTaskRequest, CancelTaskRequestParams, CancelTaskResult, EXTENSION, GetTaskRequest, GetTaskRequestParams,
    TaskStatusNotification, TaskSubscriptionAcknowledgedNotifications, TaskSubscriptionNotifications,
    UpdateTaskRequest, UpdateTaskResult,
};
use mcp_runtime_core::internal::invalid_params;
use mcp_runtime_core::mcp_wire::{Extension, Extra, Notification, RawJson, Request, UnknownMethod};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{Context, ErrorObject, ServerSide, error_code, hub};
use mcp_runtime_router::{Call, CoreMethods, ExtensionSubscription, ServerExtension, to_hub};
use serde_json::Value;

use crate::core::{CORE, CoreClient};
use crate::error::{decoded, encoded};
use crate::record::{State, TaskRecord};
use crate::run::Wanted;
use crate::store::Tasks;
use crate::watch::Watch;

impl ServerExtension for Tasks {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    async fn answer(&self, method: &'static str, params: Value, call: Call) -> Result<RawJson, ErrorObject> {
        self.answer_of_extension(method, &params, call.principal()).await
    }

    /// A client must not request a task of a tool that doesn't declare it.
    fn check_tool_call(&self, tool: &hub::Tool, context: &Context<ServerSide>) -> Result<(), ErrorObject> {
        match Wanted::by(context)? {
            Some(Wanted::Core(_)) if !CORE.support.is_declared(tool) => Err(ErrorObject::new(
                error_code::METHOD_NOT_FOUND,
                format!("the tool doesn't run as a task: call it without `{}`", CORE.parameter),
            )),
            _ => Ok(()),
        }
    }

    fn core_methods(&self) -> Option<CoreMethods> {
        Some(CORE.methods())
    }

    async fn answer_core_method(
        &self,
        method: &'static str,
        params: Value,
        call: Call,
    ) -> Result<RawJson, ErrorObject> {
        let client = CoreClient {
            peer: call.peer(),
            owner: call.principal(),
        };
        self.answer_of_core(method, &params, client).await
    }

    async fn subscribe(&self, filter: Arc<Extra>, call: Call) -> Result<ExtensionSubscription, ErrorObject> {
        let filter: TaskSubscriptionNotifications = encoded(&*filter)?.decode_as().map_err(invalid_params)?;
        let Some(ids) = filter.task_ids else {
            return Ok(ExtensionSubscription::default());
        };
        call.require_extension(EXTENSION.id)?;
        let mut known = BTreeSet::new();
        for id in ids {
            if !known.contains(&id) && self.find(&id, call.principal()).await.is_ok() {
                known.insert(id);
            }
        }
        let agreed = TaskSubscriptionAcknowledgedNotifications::default()
            .with_task_ids(known.iter().cloned().collect::<Vec<_>>());
        let watched = Watched {
            tasks: self.clone(),
            watch: self.watch(known.iter().map(String::as_str)),
            principal: call.principal().cloned(),
            sent: BTreeMap::new(),
        };
        let notifications = unfold(watched, |mut watched| async {
            let notification = watched.next().await;
            Some((notification, watched))
        });
        Ok(ExtensionSubscription {
            agreed: encoded(&agreed)?.decode_as().map_err(invalid_params)?,
            notifications: Some(Box::pin(notifications)),
        })
    }
}

impl Tasks {
    /// Answers a request of a client that has declared the extension.
    ///
    /// # Errors
    /// The error of the response.
    pub(crate) async fn answer_of_extension(
        &self,
        method: &str,
        params: &Value,
        owner: Option<&Principal>,
    ) -> Result<RawJson, ErrorObject> {
        match method {
            GetTaskRequest::METHOD => {
                let params: GetTaskRequestParams = decoded(params)?;
                encoded(&self.find(&params.task_id, owner).await?.result()?)
            }
            UpdateTaskRequest::METHOD => {
                // An answer under a name without an input request can be any JSON, so the answers are decoded one by
                // one.
                let id: GetTaskRequestParams = decoded(params)?;
                let answers = params["inputResponses"].as_object();
                let answers = answers.ok_or_else(|| invalid_params("`inputResponses`: expected an object"))?;
                let task = self.find(&id.task_id, owner).await?;
                if let State::Working { asks } = &task.state {
                    let asked = answers.iter().filter(|(name, _)| asks.contains_key(name));
                    let answers = asked.map(|(name, answer)| {
                        let answer =
                            to_hub(&EXTENSION, "InputResponse", &RawJson::from(answer)).map_err(invalid_params)?;
                        Ok((name.clone(), answer))
                    });
                    self.answer(&task, answers.collect::<Result<_, ErrorObject>>()?).await?;
                }
                encoded(&UpdateTaskResult::default())
            }
            CancelTaskRequest::METHOD => {
                let params: CancelTaskRequestParams = decoded(params)?;
                let task = self.find(&params.task_id, owner).await?;
                self.cancel(task).await?;
                encoded(&CancelTaskResult::default())
            }
            other => Err(ErrorObject::new(
                error_code::METHOD_NOT_FOUND,
                format!("Unknown method: {other}"),
            )),
        }
    }
}

/// The tasks that a client subscribes to.
struct Watched {
    tasks: Tasks,
    watch: Watch,
    principal: Option<Principal>,
    /// The last states of the tasks of other instances.
    sent: BTreeMap<String, RawJson>,
}

impl Watched {
    async fn next(&mut self) -> UnknownMethod {
        loop {
            let id = self.watch.next().await;
            let Ok(task) = self.tasks.find(&id, self.principal.as_ref()).await else {
                self.watch.others.remove(&id);
                continue;
            };
            let Ok(params) = status(&task) else { continue };
            if self.watch.others.contains(&id) {
                if self.sent.get(&id) == Some(&params) {
                    continue;
                }
                self.sent.insert(id.clone(), params.clone());
                if task.has_ended() {
                    self.watch.others.remove(&id);
                }
            }
            return UnknownMethod::new(TaskStatusNotification::METHOD).with_params(params);
        }
    }
}

/// Returns the parameters of a status notification: the state without `resultType`.
fn status(task: &TaskRecord) -> Result<RawJson, ErrorObject> {
    let state: Extra = encoded(&task.result()?)?.decode_as().map_err(invalid_params)?;
    let members = state.into_iter().filter(|(member, _)| member != "resultType");
    encoded(&members.collect::<Extra>())
}
