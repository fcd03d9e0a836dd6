//! Tasks between revisions that have them in their core and those that have them as an extension.
//!
//! A client's task is one of the bridge, which follows that of the server. So the client asks for its state, its result and its questions as
//! its revision has them, and the bridge asks the server as that one's revision has them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{Call, ErrorObject, Message, MessageHeader, RawJson, RawObject, RequestId, UnknownMethod};
use mcp_adapters::{Loss, PeerTypes, Revision, Translated};
use mcp_ext_tasks::{CreateTaskResult, EXTENSION};
use mcp_runtime_core::internal::{Mutex, internal_error, invalid_params};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{CallError, ClientSide, Context, HandlerResult, LossObserver, Peer, ServerSide, Side};
use mcp_runtime_tasks::internal::{
    CORE, CoreClient, Wanted, answer_core, answer_extension, begin, make_room, may_declare,
};
use mcp_runtime_tasks::{TaskContext, TaskLimits, Tasks};
use serde_json::{Value, json};

use super::following::{Followed, core_task, follow_core, follow_extension};
use super::upstream::Upstream;

/// The part of all tasks that one client may have, so that it doesn't keep out the others.
const SHARE: usize = 8;

/// How long a task is kept, if neither the client nor the server says that it is for less.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The pages of a list of tools that are read, to find those that run as tasks.
const PAGES: usize = 100;

/// The tasks that a bridge has for its clients.
pub struct CarriedTasks {
    tasks: Tasks,
    share: usize,
}

impl CarriedTasks {
    pub fn new(limit: usize) -> Arc<Self> {
        let limits = TaskLimits {
            ttl: KEPT,
            tasks: limit,
            ..TaskLimits::default()
        };
        Arc::new(Self {
            tasks: Tasks::new(limits),
            share: limit.div_ceil(SHARE),
        })
    }
}

/// The tasks of a server with sessions.
#[derive(Default)]
pub struct ServerTasks {
    /// Those that are followed, by their ids there, and the clients that have begun them.
    followed: Mutex<HashMap<String, (TaskContext, Peer<ServerSide>)>>,
    tools: Mutex<KnownTools>,
}

/// The tools that run as tasks, once they have been listed.
#[derive(Default)]
struct KnownTools {
    /// How often they have changed.
    generation: u64,
    listed: Option<HashSet<String>>,
}

impl ServerTasks {
    /// Asks the client of a task what the server asks for it; `None` if the question isn't about a task that is followed.
    pub async fn ask(
        &self,
        context: &Context<ClientSide>,
        request: &hub::InputRequest,
    ) -> Option<Result<hub::InputResponse, ErrorObject>> {
        let id = CORE.task_of(context.meta()?)?;
        let (task, client) = self.followed.lock().get(&id).cloned()?;
        let asked = async {
            client.may_ask(request)?;
            let json = serde_json::to_value(request).map_err(internal_error)?;
            let json = CORE.unrelated(json, "/params").to_string();
            let request = mcp_wire::from_str(&json).map_err(internal_error)?;
            Ok(task.request(request).await?)
        };
        Some(asked.await)
    }

    /// The server's tools have changed.
    pub fn forget_tools(&self) {
        let mut tools = self.tools.lock();
        tools.generation += 1;
        tools.listed = None;
    }

    /// Follows a task, until it is forgotten.
    pub fn insert(&self, id: &str, task: TaskContext, client: Peer<ServerSide>) {
        self.followed.lock().insert(id.to_owned(), (task, client));
    }

    pub fn remove(&self, id: &str) {
        self.followed.lock().remove(id);
    }
}

/// Whether a notification is about the state of a task, and the client's revision has no tasks like it: the task is one of the bridge then,
/// which asks for its state.
pub fn is_told_to_bridge(notification: &hub::ServerNotification, client: Revision) -> bool {
    let hub::ServerNotification::Unknown(notification) = notification else {
        return false;
    };
    notification.method == CORE.status && !CORE.has_tasks(client)
}

/// Whether a server offers tasks, as its revision has them.
pub fn offers_tasks(state: &mcp_runtime_core::internal::SessionState<ClientSide>) -> bool {
    let negotiated = state.negotiated();
    if CORE.has_tasks(negotiated.revision) {
        let member = negotiated.revision.lifecycle().begin_result.capabilities;
        let declared = member.and_then(|member| state.agreement.get()?.get(member)?.parse::<Value>().ok());
        // Other requests than those of tools aren't carried.
        return declared.is_some_and(|declared| declared.pointer(&CORE.offered).is_some());
    }
    let extensions = negotiated
        .info
        .as_ref()
        .and_then(|info| info.server_capabilities().extensions);
    may_declare(negotiated.revision) && extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION.id))
}

/// Whether the tasks of a server are carried to clients of a revision, which has them in the other form.
pub fn carries(upstream: &Upstream, client: Revision) -> bool {
    upstream.offers_tasks
        && match CORE.has_tasks(client) {
            true => !CORE.has_tasks(upstream.revision),
            false => CORE.has_tasks(upstream.revision) && may_declare(client),
        }
}

/// Declares to clients of a revision that there are tasks; capabilities that only this revision has.
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

/// Gets the losses of a client's messages, but for that of the parameter which asks for a task: the bridge knows it.
pub fn known_losses(upstream: &Upstream, client: Revision, losses: Option<LossObserver>) -> Option<LossObserver> {
    let losses = losses?;
    if !(CORE.has_tasks(client) && carries(upstream, client)) {
        return Some(losses);
    }
    let parameter = format!("params.{}", CORE.parameter);
    Some(Arc::new(move |method, lost| {
        let lost: Vec<Loss> = lost
            .iter()
            .filter(|loss| loss.path.to_string() != parameter)
            .cloned()
            .collect();
        if !lost.is_empty() {
            losses(method, &lost);
        }
    }))
}

/// How a client wants the result of a call as a task, if the bridge may have to answer by one. The call asks the server for it.
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
    let wanted = Wanted::by(context).filter(|_| carries(upstream, context.peer().negotiated().revision));
    let Some(wanted) = wanted else { return Ok(None) };
    if wanted == Wanted::Extension {
        if !runs_as_task(upstream, server, &call.params.name).await {
            return Ok(None);
        }
        call.params.extra.insert(&*CORE.parameter, json!({}));
    }
    let carried = &upstream.tasks;
    make_room(&carried.tasks, owner, carried.share)?;
    Ok(Some(wanted))
}

/// Whether a server's tool runs as a task, by the list of its tools.
async fn runs_as_task(upstream: &Upstream, server: &Peer<ClientSide>, name: &str) -> bool {
    let known = &upstream.links.tasks.tools;
    let generation = {
        let known = known.lock();
        if let Some(listed) = &known.listed {
            return listed.contains(name);
        }
        known.generation
    };
    let mut tools = HashSet::new();
    let mut cursor = None;
    for _ in 0..PAGES {
        let mut request = hub::ListToolsRequest::default();
        request.params.cursor = cursor;
        let page = match list(server, request.into()).await {
            Ok(page) => page,
            Err(error) => {
                tracing::debug!(%error, "the server's tools can't be listed");
                return false;
            }
        };
        let listed = page["tools"].as_array().into_iter().flatten();
        let with_tasks = listed.filter(|tool| runs_so(tool));
        tools.extend(with_tasks.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())));
        cursor = page[&CORE.next].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    let runs = tools.contains(name);
    let mut known = known.lock();
    if known.generation == generation {
        known.listed = Some(tools);
    }
    runs
}

/// Whether a tool, as a revision with tasks in its core has it, runs as a task.
fn runs_so(tool: &Value) -> bool {
    let declared = &tool[&CORE.support.member];
    let has = |support: &Value| {
        let mut members = support.as_object().into_iter().flatten();
        members.all(|(member, value)| declared[member] == *value)
    };
    has(&CORE.support.optional) || has(&CORE.support.required)
}

/// A page of a server's tools, as its revision has it.
async fn list(server: &Peer<ClientSide>, request: hub::ClientRequest) -> Result<Value, CallError> {
    let (negotiated, method) = (server.negotiated(), hub::ClientRequest::method(&request).to_owned());
    let unrepresentable = |what: String| CallError::Unrepresentable(what);
    let call = Call {
        id: RequestId::Integer(0),
        request,
    };
    let encoded = ClientSide::encode(negotiated.revision, Message::Request(call), negotiated.conversion());
    let Translated::Message { message, losses } = encoded else {
        return Err(unrepresentable(method));
    };
    server.state().report_losses(&method, &losses);
    let header = MessageHeader::from_slice(&message).map_err(|error| unrepresentable(error.to_string()))?;
    let mut request = UnknownMethod::new(negotiated.method(&method));
    if let Some(params) = header.params() {
        request.params = params.decode_as().map_err(|error| unrepresentable(error.to_string()))?;
    }
    let (page, _) = server.state().call_json(negotiated, &method, request).await?;
    page.parse()
        .map_err(|error| CallError::InvalidResult(error.to_string()))
}

/// The tools of a server whose core has tasks, for a client that has declared the extension. To any other client those that only run as tasks
/// are hidden.
pub async fn list_with_tasks(
    server: Peer<ClientSide>,
    request: hub::ClientRequest,
) -> Result<hub::ServerResult, CallError> {
    let method = hub::ClientRequest::method(&request).to_owned();
    let mut page = list(&server, request).await?;
    let tools = page
        .get_mut("tools")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    for tool in tools.filter(|tool| runs_so(tool)) {
        tool.as_object_mut().map(|tool| tool.remove(&CORE.support.member));
    }
    let negotiated = server.negotiated();
    let decoded = ClientSide::decode_result(
        negotiated.revision,
        negotiated.method(&method),
        &page.into(),
        negotiated.conversion(),
    )?;
    let decoded = decoded.ok_or_else(|| CallError::InvalidResult(method.clone()))?;
    server.state().report_losses(&method, &decoded.losses);
    Ok(decoded.result)
}

/// Whether a client gets the list of tools with those that only run as tasks.
pub fn lists_with_tasks(upstream: &Upstream, request: &hub::ClientRequest, context: &Context<ServerSide>) -> bool {
    matches!(request, hub::ClientRequest::ListTools(_))
        && carries(upstream, context.peer().negotiated().revision)
        && Wanted::by(context) == Some(Wanted::Extension)
}

/// A server's answer, as a client that has tasks in the other form gets it.
///
/// # Errors
/// When there are as many tasks as may be kept, and when the server's task isn't one.
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
        // The server has answered at once what the client asked for as a task.
        (Some(wanted @ Wanted::Core(_)), hub::ServerResult::CallTool(result)) => {
            let ended = std::future::ready(Ok(result.into()));
            begin(tasks, owner, wanted, kept(None, None), |_| ended).await?
        }
        (Some(Wanted::Extension), hub::ServerResult::Unknown(result)) => {
            let task = result
                .get(&CORE.created)
                .ok_or_else(|| internal_error("the server's task isn't one"))?;
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

/// How long a task is kept, and how often a client asks for its state.
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
        return Some(answer_core(tasks, &request.method, &params, client).await);
    }
    let mut methods = EXTENSION.methods.iter().filter(|method| method.is_request());
    if Wanted::by(context) != Some(Wanted::Extension) || !methods.any(|method| method.name == request.method) {
        return None;
    }
    Some(answer_extension(tasks, &request.method, &params, owner).await)
}
