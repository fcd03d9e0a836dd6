//! The server, with the fixtures of interop/drivers/fixtures.json.

mod call;
mod fixtures;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::SubscriptionContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt;

use self::call::{Context, LEVELS, Unfinished};
use self::fixtures::{FIXTURES, Fixtures};
use crate::{json, typed};

const RESOURCE_NOT_FOUND: i32 = -32002;

pub async fn over_stdio() -> anyhow::Result<()> {
    let serving = Fixtures::default().serve(rmcp::transport::stdio()).await?;
    serving.waiting().await?;
    Ok(())
}

pub async fn over_http() -> anyhow::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    // The server is started for one client, whose requests may belong to no session.
    let fixtures = Fixtures::default();
    let service = StreamableHttpService::new(
        move || Ok(fixtures.clone()),
        sessions,
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let app = axum::Router::new().nest_service("/mcp", service);
    let mut input = Vec::new();
    let mut stdin = tokio::io::stdin();
    tokio::select! {
        served = async { axum::serve(listener, app).await } => served?,
        _ = stdin.read_to_end(&mut input) => {}
    }
    // The thread that reads the input would keep the process alive.
    std::process::exit(0)
}

/// Replaces the names of arguments in braces by their values, in the messages of a prompt.
fn fill(value: &Value, given: &Map<String, Value>) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), fill(member, given)))
            .collect(),
        Value::Array(elements) => elements.iter().map(|element| fill(element, given)).collect(),
        Value::String(text) => given
            .iter()
            .fold(text.clone(), |text, (key, value)| {
                text.replace(&format!("{{{key}}}"), value.as_str().unwrap_or_default())
            })
            .into(),
        other => other.clone(),
    }
}

type Page = Option<PaginatedRequestParams>;

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.server_info.name = "rmcp-driver".to_owned();
        config.server_info.version = "1.0.0".to_owned();
        let offers = json!({
            "tools": {"listChanged": true}, "resources": {"subscribe": true}, "prompts": {}, "logging": {},
            "completions": {},
        });
        config.capabilities = typed(offers).unwrap_or_default();
        config
    }

    async fn list_tools(&self, _: Page, _: Context) -> Result<ListToolsResult, ErrorData> {
        let mut tools: Vec<Value> = FIXTURES["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|fixture| fixture["tool"].clone())
            .collect();
        if self.with(|session| session.dynamic) {
            tools.push(FIXTURES["dynamicTool"].clone());
        }
        typed(json!({"tools": tools}))
    }

    async fn call_tool(&self, params: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        match self.call(params, &context).await {
            Ok(result) => Ok(CallToolResponse::Complete(typed(result)?)),
            Err(Unfinished::InputRequired(result)) => Ok(CallToolResponse::InputRequired(typed(result)?)),
            Err(Unfinished::Error(error)) => Err(error),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let number = self.with(|session| {
            session.listened += 1;
            session.listening.push((session.listened, context.sink().clone()));
            session.listened
        });
        context.cancelled().await;
        self.with(|session| session.listening.retain(|(other, _)| *other != number));
        Ok(())
    }

    async fn list_resources(&self, _: Page, _: Context) -> Result<ListResourcesResult, ErrorData> {
        typed(json!({"resources": FIXTURES["resources"]}))
    }

    async fn list_resource_templates(&self, _: Page, _: Context) -> Result<ListResourceTemplatesResult, ErrorData> {
        typed(json!({"resourceTemplates": [FIXTURES["template"]]}))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents: Vec<Value> = match id {
            Some(id) => {
                let text = json!({"id": id}).to_string();
                vec![json!({"uri": uri, "mimeType": FIXTURES["template"]["mimeType"], "text": text})]
            }
            None => {
                let all = FIXTURES["contents"].as_array().into_iter().flatten();
                all.filter(|content| content["uri"] == uri.as_str()).cloned().collect()
            }
        };
        if contents.is_empty() {
            let code = rmcp::model::ErrorCode(RESOURCE_NOT_FOUND);
            return Err(ErrorData::new(code, "no such resource", Some(json!({"uri": uri}))));
        }
        Ok(ReadResourceResponse::Complete(typed(json!({"contents": contents}))?))
    }

    async fn subscribe(&self, params: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.with(|session| session.subscribed.insert(params.uri));
        Ok(())
    }

    async fn unsubscribe(&self, params: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.with(|session| session.subscribed.remove(&params.uri));
        Ok(())
    }

    async fn list_prompts(&self, _: Page, _: Context) -> Result<ListPromptsResult, ErrorData> {
        let prompts = FIXTURES["prompts"].as_array().into_iter().flatten();
        let prompts: Vec<&Value> = prompts.map(|fixture| &fixture["prompt"]).collect();
        typed(json!({"prompts": prompts}))
    }

    async fn get_prompt(&self, params: GetPromptRequestParams, _: Context) -> Result<GetPromptResponse, ErrorData> {
        let mut prompts = FIXTURES["prompts"].as_array().into_iter().flatten();
        let fixture = prompts.find(|fixture| fixture["prompt"]["name"] == params.name.as_str());
        let unknown = || ErrorData::invalid_params(format!("no prompt is called {}", params.name), None);
        let fixture = fixture.ok_or_else(unknown)?;
        let given = params.arguments.clone().unwrap_or_default();
        let messages = fill(&fixture["messages"], &given);
        Ok(GetPromptResponse::Complete(typed(json!({"messages": messages}))?))
    }

    async fn complete(&self, params: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let argument = json(&params.argument);
        let begun = argument["value"].as_str().unwrap_or_default();
        let candidates = FIXTURES["completions"][argument["name"].as_str().unwrap_or_default()].as_array();
        let fits = |value: &&Value| value.as_str().is_some_and(|value| value.starts_with(begun));
        let values: Vec<&Value> = candidates.into_iter().flatten().filter(fits).collect();
        typed(json!({"completion": {"total": values.len(), "values": values, "hasMore": false}}))
    }

    async fn set_level(&self, params: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        let level = json(params.level);
        let level = LEVELS.iter().position(|known| level == *known).unwrap_or_default();
        self.with(|session| session.level = level);
        Ok(())
    }
}
