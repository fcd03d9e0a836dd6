//! Tasks between revisions that have them in their core and those that have them as an extension.
//!
//! A client's task is one of the bridge, which follows the server's task. The client requests the state, the result and
//! the input requests of its task in the form of its own revision, and the bridge requests those of the server's task
//! in the form of the server's.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, RawObject, UnknownMethod};
use mcp_adapters::{Loss, Revision};
use mcp_ext_tasks::{CreateTaskResult, EXTENSION};
use mcp_runtime_core::internal::{internal_error, invalid_params, log_losses};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{ClientSide, Context, HandlerResult, LossObserver, Peer, ServerSide};
use mcp_runtime_tasks::internal::{
    CORE, CoreClient, Wanted, answer_core_method, answer_extension, begin, make_room, may_declare, undeclared_extension,
};
use serde_json::{Value, json};

use super::following::{Followed, core_task, follow_core, follow_extension};
use super::upstream::Upstream;

/// Whether the tasks of a server are carried to clients of a revision, because the revision has tasks in the other
/// form.
pub fn carries(upstream: &Upstream, client: Revision) -> bool {
    upstream.offers_tasks
        && match CORE.has_tasks(client) {
            true => !CORE.has_tasks(upstream.revision),
            false => CORE.has_tasks(upstream.revision) && may_declare(client),
        }
}

/// Declares tasks to clients of a revision. Returns the capabilities that only this revision has.
pub fn declare(
    upstream: &Upstream,
    client: Revision,
    capabilities: &mut hub::ServerCapabilities,
) -> Vec<(Revision, Value)> {
    if !carries(upstream, client) {
        return Vec::new();
    }
    let mut extensions = capabilities.extensions.take().unwrap_or_default();
    let extra = match CORE.has_tasks(client) {
        true => {
            extensions.remove(EXTENSION.id);
            vec![(client, CORE.capabilities.clone())]
        }
        false => {
            extensions.insert(EXTENSION.id, RawObject::default());
            Vec::new()
        }
    };
    capabilities.extensions = Some(extensions).filter(|extensions| !extensions.is_empty());
    extra
}

/// Wraps the observer of a client's losses. It omits the loss of the parameter that requests a task, because the bridge
/// handles that parameter.
pub fn known_losses(upstream: &Upstream, client: Revision, losses: Option<LossObserver>) -> LossObserver {
    let losses = losses.unwrap_or_else(|| Arc::new(log_losses));
    if !(CORE.has_tasks(client) && carries(upstream, client)) {
        return losses;
    }
    let parameter = format!("params.{}", CORE.parameter);
    Arc::new(move |method, lost| {
        let lost: Vec<Loss> = lost
            .iter()
            .filter(|loss| loss.path.to_string() != parameter)
            .cloned()
            .collect();
        if !lost.is_empty() {
            losses(method, &lost);
        }
    })
}

/// Returns how the client wants the result of a call as a task, if the bridge may have to answer with a task. If the
/// server needs a parameter to create one, it is added to the request.
///
/// # Errors
/// When the client has too many tasks.
pub async fn wanted(
    upstream: &Upstream,
    server: &Peer<ClientSide>,
    owner: &Principal,
    request: &mut hub::ClientRequest,
    context: &Context<ServerSide>,
) -> Result<Option<Wanted>, ErrorObject> {
    let hub::ClientRequest::CallTool(call) = request else {
        return Ok(None);
    };
    let wanted = Wanted::by(context)?.filter(|_| carries(upstream, context.peer().negotiated().revision));
    let Some(wanted) = wanted else { return Ok(None) };
    if wanted == Wanted::Extension {
        if !upstream.links.tasks.runs(server, &call.params.name).await {
            return Ok(None);
        }
        call.params.extra.insert(&*CORE.parameter, json!({}));
    }
    let carried = &upstream.tasks;
    make_room(&carried.tasks, owner, carried.share)?;
    Ok(Some(wanted))
}

/// Whether a client's list of tools includes those that run only as tasks.
pub fn lists_with_tasks(upstream: &Upstream, request: &hub::ClientRequest, context: &Context<ServerSide>) -> bool {
    matches!(request, hub::ClientRequest::ListTools(_))
        && carries(upstream, context.peer().negotiated().revision)
        && matches!(Wanted::by(context), Ok(Some(Wanted::Extension)))
}

/// Converts a server's result for a client that has tasks in the other form.
///
/// # Errors
/// When the maximum number of tasks is reached, or the server's task is invalid.
pub async fn answer(
    upstream: &Arc<Upstream>,
    server: Peer<ClientSide>,
    owner: &Principal,
    wanted: Option<Wanted>,
    result: hub::ServerResult,
    context: &Context<ServerSide>,
) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
    let tasks = &upstream.tasks.tasks;
    let created = match (wanted, result) {
        (Some(Wanted::Core(ttl)), hub::ServerResult::Unknown(task)) => {
            let task: CreateTaskResult = task.decode_as().map_err(internal_error)?;
            let followed = Followed::new(server, &task.task_id, upstream);
            let kept = kept(task.ttl_ms, task.poll_interval_ms);
            let work = |client| follow_extension(followed, client);
            begin(tasks, owner, Wanted::Core(ttl), kept, work).await?
        }
        // The client requested a task, but the server returned the result directly.
        (Some(wanted @ Wanted::Core(_)), hub::ServerResult::CallTool(result)) => {
            let ended = std::future::ready(Ok(result.into()));
            begin(tasks, owner, wanted, kept(None, None), |_| ended).await?
        }
        (Some(Wanted::Extension), hub::ServerResult::Unknown(result)) => {
            let task = result
                .get(&CORE.created)
                .ok_or_else(|| internal_error("the server's result contains no task"))?;
            let task = core_task(&task.to_owned())?;
            let followed = Followed::new(server, &task.task_id, upstream);
            let client = context.peer().clone();
            let kept = kept(task.ttl_ms, task.poll_interval_ms);
            let work = |task| follow_core(followed, task, client);
            begin(tasks, owner, Wanted::Extension, kept, work).await?
        }
        (_, hub::ServerResult::ListTools(mut list)) => {
            let client = context.peer().negotiated().revision;
            if CORE.has_tasks(client) && carries(upstream, client) {
                for tool in &mut list.tools {
                    if tool.extra.get(&CORE.support.member).is_none() {
                        tool.extra.insert(&*CORE.support.member, CORE.support.optional.clone());
                    }
                }
            }
            return Ok(HandlerResult::Declared(hub::ServerResult::ListTools(list)));
        }
        (_, result) => return Ok(HandlerResult::Declared(result)),
    };
    Ok(HandlerResult::Custom(created))
}

/// Returns how long a task is kept, and its poll interval.
fn kept(ttl: Option<i64>, poll_interval: Option<i64>) -> (Option<Duration>, Duration) {
    let ttl = ttl.and_then(|ttl| u64::try_from(ttl).ok()).map(Duration::from_millis);
    (ttl, mcp_runtime_tasks::internal::poll_interval(poll_interval))
}

/// Answers a request about tasks; `None` if it isn't one that the bridge answers.
pub async fn answer_request(
    upstream: &Upstream,
    owner: &Principal,
    request: &UnknownMethod,
    context: &Context<ServerSide>,
) -> Option<Result<RawJson, ErrorObject>> {
    let client = context.peer().negotiated().revision;
    if !carries(upstream, client) {
        return None;
    }
    let tasks = &upstream.tasks.tasks;
    let params = request.params.as_ref().map(|params| params.parse()).transpose();
    let params = match params {
        Ok(params) => params.unwrap_or_else(|| json!({})),
        Err(error) => return Some(Err(invalid_params(error))),
    };
    if CORE.has_tasks(client) {
        if !CORE.methods().methods.contains(&&*request.method) {
            return None;
        }
        let client = CoreClient {
            peer: context.peer(),
            owner: Some(owner),
        };
        return Some(answer_core_method(tasks, &request.method, &params, client).await);
    }
    let mut methods = EXTENSION.methods.iter().filter(|method| method.is_request());
    if !methods.any(|method| method.name == request.method) {
        return None;
    }
    Some(match Wanted::by(context) {
        Ok(Some(Wanted::Extension)) => answer_extension(tasks, &request.method, &params, owner).await,
        _ => Err(undeclared_extension(Some(client), EXTENSION.id)),
    })
}
