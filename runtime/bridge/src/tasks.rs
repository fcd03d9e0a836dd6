//! The tasks of a server, and the tasks that a bridge keeps for its clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{Call, ErrorObject, Message, MessageHeader, RawJson, RequestId, UnknownMethod};
use mcp_adapters::{PeerTypes, Revision, Translated};
use mcp_ext_tasks::EXTENSION;
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::{CallError, ClientSide, Context, Peer, ServerSide, Side};
use mcp_runtime_tasks::internal::{CORE, may_declare};
use mcp_runtime_tasks::{TaskContext, TaskLimits, Tasks};
use mcp_runtime_util::Mutex;
use serde_json::Value;

/// The divisor for the share of all tasks that one client can have, so that it doesn't crowd out the others.
const SHARE: usize = 8;

/// How long a task is kept, unless the client or the server sets a shorter time.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum number of pages of a tool list that are read to find the tools that run as tasks.
const PAGES: usize = 100;

/// The tasks that a bridge keeps for its clients.
pub struct TranslatedTasks {
    pub tasks: Tasks,
    /// The maximum number for one client.
    pub share: usize,
}

impl TranslatedTasks {
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
    /// The followed tasks by their ids on the server, and the clients that created them.
    followed: Mutex<HashMap<String, (TaskContext, Peer<ServerSide>)>>,
    tools: Mutex<KnownTools>,
}

/// The tools that run as tasks, once they have been listed.
#[derive(Default)]
struct KnownTools {
    /// How often the tools have changed.
    generation: u64,
    listed: Option<HashSet<String>>,
}

impl ServerTasks {
    /// Passes an input request about a task on to the client of the task; `None` if it isn't about a followed task.
    pub async fn ask(
        &self,
        context: &Context<ClientSide>,
        request: &hub::InputRequest,
    ) -> Option<Result<hub::InputResponse, ErrorObject>> {
        let id = CORE.task_of(context.meta()?)?;
        let (task, client) = self.followed.lock().get(&id).cloned()?;
        let asked = async {
            client.check_input_request(request)?;
            let json = serde_json::to_value(request).map_err(internal_error)?;
            let json = CORE.unrelated(json, "/params").to_string();
            let request = mcp_wire::from_str(&json).map_err(internal_error)?;
            Ok(task.request(request).await?)
        };
        Some(asked.await)
    }

    /// Discards the known tools, because the server's tools have changed.
    pub fn forget_tools(&self) {
        let mut tools = self.tools.lock();
        tools.generation += 1;
        tools.listed = None;
    }

    /// Adds a followed task.
    pub fn insert(&self, id: &str, task: TaskContext, client: Peer<ServerSide>) {
        self.followed.lock().insert(id.to_owned(), (task, client));
    }

    pub fn remove(&self, id: &str) {
        self.followed.lock().remove(id);
    }

    /// Whether a tool runs as a task, according to the server's list of tools.
    pub async fn runs(&self, server: &Peer<ClientSide>, name: &str) -> bool {
        let generation = {
            let known = self.tools.lock();
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
        let mut known = self.tools.lock();
        if known.generation == generation {
            known.listed = Some(tools);
        }
        runs
    }
}

/// Whether a notification is about the state of a task, and the client's revision doesn't have this form of tasks. Such
/// a task is one of the bridge's, which requests the state itself.
pub fn is_told_to_bridge(notification: &hub::ServerNotification, client: Revision) -> bool {
    let hub::ServerNotification::Unknown(notification) = notification else {
        return false;
    };
    notification.method == CORE.status && !CORE.has_tasks(client)
}

/// Whether a server offers tasks in the form of its revision.
pub fn offers_tasks(state: &mcp_runtime_core::internal::SessionState<ClientSide>) -> bool {
    let negotiated = state.negotiated();
    if CORE.has_tasks(negotiated.revision) {
        let member = negotiated.revision.lifecycle().begin_result.capabilities;
        let declared = member.and_then(|member| state.agreement.get()?.get(member)?.parse::<Value>().ok());
        // Only tool calls are carried as tasks.
        return declared.is_some_and(|declared| declared.pointer(&CORE.offered).is_some());
    }
    let extensions = negotiated
        .info
        .as_ref()
        .and_then(|info| info.server_capabilities().extensions);
    may_declare(negotiated.revision) && extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION.id))
}

/// Whether a tool runs as a task. It is in the form of a revision with tasks in its core.
fn runs_so(tool: &Value) -> bool {
    let declared = &tool[&CORE.support.member];
    let has = |support: &Value| {
        let mut members = support.as_object().into_iter().flatten();
        members.all(|(member, value)| declared[member] == *value)
    };
    has(&CORE.support.optional) || has(&CORE.support.required)
}

/// Lists a page of a server's tools, in the form of the server's revision.
async fn list(server: &Peer<ClientSide>, request: hub::ClientRequest) -> Result<Value, CallError> {
    let (negotiated, method) = (server.negotiated(), hub::ClientRequest::method(&request).to_owned());
    let call = Call {
        id: RequestId::Integer(0),
        request,
    };
    let encoded = ClientSide::encode(negotiated.revision, Message::Request(call), negotiated.conversion());
    let Translated::Message { message, losses } = encoded else {
        return Err(CallError::Unrepresentable(method));
    };
    server.state().report_losses(&method, &losses);
    let header = MessageHeader::from_slice(&message).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    let mut request = UnknownMethod::new(negotiated.method(&method));
    if let Some(params) = header.params() {
        request.params = params
            .decode_as()
            .map_err(|error| CallError::Unrepresentable(error.to_string()))?;
    }
    let (page, _) = server.state().call_json(negotiated, &method, request).await?;
    page.parse()
        .map_err(|error| CallError::InvalidResult(error.to_string()))
}

/// Lists the tools of a server whose core has tasks, for a client that has declared the extension. The tools that run
/// only as tasks, which are hidden from other clients, are included.
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
    let decoded = decode_result(&server, &method, &page.into())?;
    decoded.ok_or(CallError::InvalidResult(method))
}

/// Decodes the result of a method in the hub's revision; `None` if the server's revision doesn't have the method.
pub fn decode_result(
    server: &Peer<ClientSide>,
    method: &str,
    result: &RawJson,
) -> Result<Option<hub::ServerResult>, CallError> {
    let negotiated = server.negotiated();
    let own_method = negotiated.method(method);
    let decoded = ClientSide::decode_result(negotiated.revision, own_method, result, negotiated.conversion())?;
    Ok(decoded.map(|decoded| {
        server.state().report_losses(method, &decoded.losses);
        decoded.result
    }))
}
