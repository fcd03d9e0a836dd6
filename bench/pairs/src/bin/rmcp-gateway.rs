//! A gateway with rmcp: one server in front of those on the command line, as `name=program`.

use futures_util::StreamExt;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResponse, ClientRequest, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestContext, RunningService, ServiceError, SubscriptionContext,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient, RoleServer, ServerHandler, ServiceExt};
use tokio::process::Command;
use tokio::sync::watch;

/// The progress and changes of which a server notifies.
#[derive(Default)]
struct Notified {
    progress: ProgressDispatcher,
    changes: watch::Sender<()>,
}

impl ClientHandler for Notified {
    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.handle_notification(params).await;
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_replace(());
    }
}

type Client = RunningService<RoleClient, Notified>;

struct Gateway {
    servers: Vec<(String, Client)>,
    changes: watch::Sender<()>,
}

impl Gateway {
    /// Returns the server of a tool, and the tool's name there.
    fn server(&self, tool: &str) -> Option<(&Client, String)> {
        self.servers.iter().find_map(|(name, client)| {
            let tool = tool.strip_prefix(name.as_str())?.strip_prefix('_')?;
            Some((client, tool.to_owned()))
        })
    }
}

async fn connect(program: &str, changes: watch::Sender<()>) -> Result<Client, Box<dyn std::error::Error>> {
    let notified = Notified {
        changes,
        ..Notified::default()
    };
    Ok(notified.serve(TokioChildProcess::new(Command::new(program))?).await?)
}

fn error(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::internal_error(error.to_string(), None),
    }
}

impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("gateway", "1.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = Vec::new();
        for (name, client) in &self.servers {
            match client.list_all_tools().await {
                Ok(tools) => all.extend(tools.into_iter().map(|mut tool| {
                    tool.name = format!("{name}_{}", tool.name).into();
                    tool
                })),
                Err(error) => eprintln!("{name} can't list its tools: {error}"),
            }
        }
        Ok(ListToolsResult::with_all_items(all))
    }

    async fn call_tool(
        &self,
        mut params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let found = self.server(&params.name);
        let unknown = || ErrorData::invalid_params(format!("Unknown tool: {}", params.name), None);
        let (client, tool) = found.ok_or_else(unknown)?;
        params.name = tool.into();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let call = client.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut call = call.await.map_err(error)?;
        let mut progress = client.service().progress.subscribe(call.progress_token.clone()).await;
        let token = context.meta.get_progress_token();
        loop {
            tokio::select! {
                Some(mut step) = progress.next() => {
                    if let Some(token) = &token {
                        step.progress_token = token.clone();
                        context.peer.notify_progress(step).await.map_err(error)?;
                    }
                }
                result = &mut call.rx => {
                    return match result.unwrap_or(Err(ServiceError::TransportClosed)).map_err(error)? {
                        ServerResult::CallToolResult(result) => Ok(result.into()),
                        _ => Err(error(ServiceError::UnexpectedResponse)),
                    };
                }
                () = context.ct.cancelled() => {
                    call.cancel(None).await.map_err(error)?;
                    return Err(ErrorData::internal_error("cancelled", None));
                }
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let mut changes = self.changes.subscribe();
        tokio::spawn(async move {
            while changes.changed().await.is_ok() {
                if context.peer.notify_tool_list_changed().await.is_err() {
                    break;
                }
            }
        });
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                () = subscription.cancelled() => return Ok(()),
                changed = changes.changed() => {
                    if changed.is_err() || subscription.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut gateway = Gateway {
        servers: Vec::new(),
        changes: watch::Sender::default(),
    };
    for argument in std::env::args().skip(1) {
        let (name, program) = argument.split_once('=').ok_or("a server is named as `name=program`")?;
        match connect(program, gateway.changes.clone()).await {
            Ok(client) => gateway.servers.push((name.to_owned(), client)),
            Err(error) => eprintln!("can't connect to {name}: {error}"),
        }
    }
    gateway.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}
