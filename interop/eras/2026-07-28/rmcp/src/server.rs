//! The server, with the fixtures of interop/drivers/fixtures.json.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, GetPromptRequestParams,
    GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, ServiceError, SubscriptionContext, SubscriptionSink};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt;

use crate::{json, typed};

static FIXTURES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../drivers/fixtures.json")).expect("the fixtures are JSON")
});

const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
const RESOURCE_NOT_FOUND: i32 = -32002;
const AWAY: Duration = Duration::from_millis(100);
const SLOW: Duration = Duration::from_secs(30);

type Context = RequestContext<RoleServer>;

/// A server for one session.
#[derive(Clone, Default)]
struct Fixtures(Arc<Mutex<Session>>);

/// What the fixtures remember of a session.
#[derive(Default)]
struct Session {
    level: usize,
    cancelled: usize,
    dynamic: bool,
    subscribed: BTreeSet<String>,
    /// Those who listen, where there are no sessions, each with its number.
    listening: Vec<(usize, SubscriptionSink)>,
    /// How many have listened.
    listened: usize,
}

/// A call of a tool.
struct Call<'c> {
    given: Map<String, Value>,
    /// What the client answered to the result of the call before.
    answers: Value,
    state: Option<String>,
    context: &'c Context,
}

/// Why a call has no result yet.
enum Unfinished {
    Error(ErrorData),
    /// The result that asks.
    InputRequired(Value),
}

impl From<ErrorData> for Unfinished {
    fn from(error: ErrorData) -> Self {
        Self::Error(error)
    }
}

impl Call<'_> {
    /// Whether the client began without a handshake, and says with each request what it wants.
    fn is_stateless(&self) -> bool {
        json(&self.context.meta)["io.modelcontextprotocol/protocolVersion"].is_string()
    }

    /// Asks several questions in a result.
    fn ask_all(&self, questions: Value, state: Option<&str>) -> Result<&Value, Unfinished> {
        let mut names = questions.as_object().into_iter().flat_map(Map::keys);
        if names.all(|name| !self.answers[name].is_null()) {
            return Ok(&self.answers);
        }
        let mut result = json!({"resultType": "input_required", "inputRequests": questions});
        if let Some(state) = state {
            result["requestState"] = state.into();
        }
        Err(Unfinished::InputRequired(result))
    }

    /// Asks one question: in a request, or in a result.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, Unfinished> {
        if self.is_stateless() {
            let question = json!({"answer": {"method": method, "params": params}});
            return self.ask_all(question, None).map(|answers| answers["answer"].clone());
        }
        let peer = &self.context.peer;
        Ok(match method {
            "elicitation/create" => json(peer.create_elicitation(typed(params)?).await.map_err(internal)?),
            "sampling/createMessage" => json(peer.create_message(typed(params)?).await.map_err(internal)?),
            _ => json(peer.list_roots().await.map_err(internal)?),
        })
    }

    async fn elicit(&self, schema: &Value) -> Result<String, Unfinished> {
        let message = self
            .given
            .get("message")
            .cloned()
            .unwrap_or_else(|| "Please answer".into());
        let question = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let answer = self.ask("elicitation/create", question).await?;
        let action = answer["action"].as_str().unwrap_or_default();
        Ok(format!("The user chose to {action}: {}", answer["content"]))
    }

    /// The least severe log messages that the client wants.
    fn level(&self, of_session: usize) -> usize {
        if !self.is_stateless() {
            return of_session;
        }
        let level = json(&self.context.meta)["io.modelcontextprotocol/logLevel"].clone();
        let level = LEVELS.iter().position(|known| level == *known);
        level.unwrap_or(LEVELS.len())
    }
}

/// A form with one field.
fn question(message: &str, field: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}})
}

fn user(text: &Value) -> Value {
    json!([{"role": "user", "content": {"type": "text", "text": text}}])
}

fn uris_of(roots: &Value) -> Vec<Value> {
    let roots = roots["roots"].as_array().into_iter().flatten();
    roots.map(|root| root["uri"].clone()).collect()
}

pub async fn over_stdio() -> anyhow::Result<()> {
    let serving = Fixtures::default().serve(rmcp::transport::stdio()).await?;
    serving.waiting().await?;
    Ok(())
}

pub async fn over_http() -> anyhow::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    // It is started for one client, whose requests may need no session.
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
    // A thread that reads the input would keep the program from ending by itself.
    std::process::exit(0)
}

impl Fixtures {
    fn with<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Those who listen. A subscription is acknowledged before `listen` is called, so where there are no sessions the first is
    /// waited for.
    async fn listeners(&self, is_stateless: bool) -> Vec<SubscriptionSink> {
        for _ in 0..40 {
            let sinks = self.with(|session| {
                session
                    .listening
                    .iter()
                    .map(|(_, sink)| sink.clone())
                    .collect::<Vec<_>>()
            });
            if !is_stateless || !sinks.is_empty() {
                return sinks;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Vec::new()
    }

    async fn call(&self, params: CallToolRequestParams, context: &Context) -> Result<Value, Unfinished> {
        let name = params.name.as_ref();
        let unknown = || ErrorData::invalid_params(format!("no tool is called {name}"), None);
        let fixtures = FIXTURES["tools"].as_array().into_iter().flatten();
        let fixture = fixtures
            .into_iter()
            .find(|fixture| fixture["tool"]["name"] == name)
            .ok_or_else(unknown)?;
        if fixture["says"].is_object() {
            return Ok(fixture["says"].clone());
        }
        let call = Call {
            given: params.arguments.clone().unwrap_or_default(),
            answers: json(&params.input_responses),
            state: params.request_state.clone(),
            context,
        };
        let text = match &fixture["asks"] {
            Value::Object(_) => call.elicit(&fixture["asks"]).await?,
            _ => self.behave(name, &call).await?,
        };
        Ok(json!({"content": [{"type": "text", "text": text}]}))
    }

    async fn behave(&self, tool: &str, call: &Call<'_>) -> Result<String, Unfinished> {
        let (context, given) = (call.context, &call.given);
        let peer = &context.peer;
        Ok(match tool {
            "test_tool_with_logging" => {
                if call.level(self.with(|session| session.level)) > 1 {
                    return Ok("logged nothing".to_owned());
                }
                for data in ["begun", "half done", "done"] {
                    let message = typed(json!({"level": "info", "logger": "fixtures", "data": data}))?;
                    peer.notify_logging_message(message).await.map_err(internal)?;
                }
                "logged three messages".to_owned()
            }
            "test_tool_with_progress" => {
                let Some(token) = context.meta.get_progress_token() else {
                    return Ok("nobody wanted to know".to_owned());
                };
                for progress in [0, 50, 100] {
                    let report = json!({"progressToken": json(&token), "progress": progress, "total": 100});
                    peer.notify_progress(typed(report)?).await.map_err(internal)?;
                }
                "reported three times".to_owned()
            }
            "test_reconnection" => {
                tokio::time::sleep(AWAY).await;
                "The client is back.".to_owned()
            }
            "test_slow" => {
                tokio::select! {
                    () = context.ct.cancelled() => self.with(|session| session.cancelled += 1),
                    () = tokio::time::sleep(SLOW) => {}
                }
                "nobody cancelled".to_owned()
            }
            "test_cancelled" => self.with(|session| session.cancelled).to_string(),
            "test_sampling" => {
                let question = json!({"messages": user(&given["prompt"]), "maxTokens": 100});
                let answer = call.ask("sampling/createMessage", question).await?;
                format!(
                    "The model said: {}",
                    answer["content"]["text"].as_str().unwrap_or_default()
                )
            }
            "test_roots" => {
                let roots = call.ask("roots/list", json!({})).await?;
                Value::from(uris_of(&roots)).to_string()
            }
            "test_input_required_result_multiple_inputs" => {
                let answers = call.ask_all(
                    json!({
                        "user_name": question("What is your name?", "name"),
                        "greeting": {
                            "method": "sampling/createMessage",
                            "params": {"messages": user(&json!("Greet")), "maxTokens": 50},
                        },
                        "client_roots": {"method": "roots/list", "params": {}},
                    }),
                    None,
                )?;
                let roots = uris_of(&answers["client_roots"]);
                let roots: Vec<&str> = roots.iter().filter_map(Value::as_str).collect();
                let (greeting, name) = (
                    &answers["greeting"]["content"]["text"],
                    &answers["user_name"]["content"]["name"],
                );
                format!(
                    "{} {} {}",
                    greeting.as_str().unwrap_or_default(),
                    name.as_str().unwrap_or_default(),
                    roots.join(",")
                )
            }
            "test_input_required_result_multi_round" => {
                let text =
                    |answer: &Value, field: &str| answer["content"][field].as_str().unwrap_or_default().to_owned();
                let name = match &call.state {
                    Some(name) => name.clone(),
                    None => {
                        let first = json!({"step1": question("What is your name?", "name")});
                        text(&call.ask_all(first, None)?["step1"], "name")
                    }
                };
                let second = json!({"step2": question("What is your favorite color?", "color")});
                let color = text(&call.ask_all(second, Some(&name))?["step2"], "color");
                format!("{name} likes {color}")
            }
            "test_touch_resource" => {
                let uri = given["uri"].as_str().unwrap_or_default();
                if self.with(|session| session.subscribed.contains(uri)) {
                    let news = typed(json!({"uri": uri}))?;
                    peer.notify_resource_updated(news).await.map_err(internal)?;
                }
                for sink in self.listeners(call.is_stateless()).await {
                    // It may have been cancelled, or be about something else.
                    let _ = sink.notify_resource_updated(uri).await;
                }
                format!("touched {uri}")
            }
            "test_list_changed" => {
                let dynamic = self.with(|session| {
                    session.dynamic = !session.dynamic;
                    session.dynamic
                });
                if !call.is_stateless() {
                    peer.notify_tool_list_changed().await.map_err(internal)?;
                }
                for sink in self.listeners(call.is_stateless()).await {
                    let _ = sink.notify_tool_list_changed().await;
                }
                format!("{} test_dynamic", if dynamic { "added" } else { "removed" })
            }
            _ => return Err(ErrorData::internal_error(format!("{tool} does nothing"), None).into()),
        })
    }
}

fn internal(error: ServiceError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Puts the values of a prompt's arguments where its messages name them in braces.
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
