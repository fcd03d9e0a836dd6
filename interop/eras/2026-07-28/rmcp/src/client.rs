//! The client, and the steps that it takes.

use std::cmp::Ordering;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{
    ClientConfig, ClientRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ListRootsResult, LoggingMessageNotificationParam, PingRequest, ProgressNotificationParam, ProtocolVersion,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RunningService, ServiceError, Subscription};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde_json::{Map, Value, json};
use tokio::time::{sleep, timeout};

use crate::{json, typed};

const STEP: Duration = Duration::from_secs(8);
const PATIENCE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
/// How long a message that must not come is waited for.
const SILENCE: Duration = Duration::from_millis(250);
const HEAD_START: Duration = Duration::from_millis(500);
const INVALID_PARAMS: i32 = -32602;
const RESOURCE_NOT_FOUND: i32 = -32002;
const WATCHED: &str = "test://watched-resource";

/// The steps; the last ones without a handshake alone.
const STEPS: [&str; 22] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "tools/call error",
    "tools/call structured",
    "progress",
    "cancel",
    "resources/list",
    "resources/read",
    "resources/templates",
    "resources/subscribe",
    "prompts/list",
    "prompts/get",
    "completion",
    "logging",
    "sampling",
    "roots",
    "elicitation",
    "list_changed",
    "rounds",
    "caching",
];
const STATELESS_STEPS: usize = 2;
const STATELESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Why a step isn't taken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Absent(&'static str);

/// What the client has, and what it was told.
#[derive(Default)]
struct Memory {
    roots: Vec<String>,
    /// Methods and parameters of the notifications so far.
    told: Vec<(&'static str, Value)>,
    /// The answers to the last elicitation.
    answered: Map<String, Value>,
    /// What is sent with each call of a tool.
    meta: Map<String, Value>,
}

#[derive(Clone, Default)]
struct Client(Arc<Mutex<Memory>>);

impl Client {
    fn with<T>(&self, look: impl FnOnce(&mut Memory) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, method: &'static str, params: Value) {
        self.with(|memory| memory.told.push((method, params)));
    }

    fn forget(&self) {
        self.with(|memory| memory.told.clear());
    }

    fn told(&self, method: &str) -> Vec<Value> {
        self.with(|memory| {
            let told = memory.told.iter().filter(|(name, _)| *name == method);
            told.map(|(_, params)| params.clone()).collect()
        })
    }

    async fn until_told(&self, method: &str, times: usize) -> Result<()> {
        let waiting = async {
            while self.told(method).len() < times {
                sleep(POLL).await;
            }
        };
        timeout(PATIENCE, waiting)
            .await
            .with_context(|| format!("waited in vain for {method}"))
    }
}

type Asked = RequestContext<RoleClient>;
type Told = NotificationContext<RoleClient>;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        let offers = json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}}});
        config.capabilities = typed(offers).unwrap_or_default();
        config.client_info.name = "rmcp-driver".to_owned();
        config.client_info.version = "1.0.0".to_owned();
        config
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: Asked,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asked = json(&params);
        let asked = asked["messages"].as_array().and_then(|messages| messages.last());
        let text = asked.map(text_of).unwrap_or_default();
        typed(json!({
            "role": "assistant", "model": "none", "stopReason": "endTurn",
            "content": {"type": "text", "text": format!("heard: {text}")},
        }))
    }

    async fn list_roots(&self, _: Asked) -> Result<ListRootsResult, ErrorData> {
        let roots = self.with(|memory| memory.roots.clone());
        typed(json!({"roots": roots.iter().map(|uri| json!({"uri": uri})).collect::<Vec<_>>()}))
    }

    async fn create_elicitation(&self, params: ElicitRequestParams, _: Asked) -> Result<ElicitResult, ErrorData> {
        let asked = json(&params);
        let fields = asked["requestedSchema"]["properties"].as_object().into_iter().flatten();
        let answers: Map<String, Value> = fields
            .map(|(name, field)| (name.clone(), answer(name, field)))
            .collect();
        self.with(|memory| memory.answered = answers.clone());
        typed(json!({"action": "accept", "content": answers}))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: Told) {
        self.note("notifications/progress", json(params));
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParam, _: Told) {
        self.note("notifications/message", json(params));
    }

    async fn on_resource_updated(&self, params: ResourceUpdatedNotificationParam, _: Told) {
        self.note("notifications/resources/updated", json(params));
    }

    async fn on_tool_list_changed(&self, _: Told) {
        self.note("notifications/tools/list_changed", json!({}));
    }
}

/// The text of a message's content, be it one block or a list of them.
fn text_of(message: &Value) -> String {
    let content = &message["content"];
    let block = content.get(0).unwrap_or(content);
    block["text"].as_str().unwrap_or_default().to_owned()
}

/// An answer that the schema allows and that is not its default.
fn answer(name: &str, schema: &Value) -> Value {
    let last = |choices: &Value| {
        let last = choices.as_array()?.last()?;
        Some(last.get("const").unwrap_or(last).clone())
    };
    if let Some(choice) = last(&schema["enum"]).or_else(|| last(&schema["oneOf"])) {
        return choice;
    }
    match schema["type"].as_str() {
        Some("boolean") => (schema["default"] == false).into(),
        Some("integer") => 7.into(),
        Some("number") => 2.5.into(),
        Some("array") => {
            let items = &schema["items"];
            let choice = last(&items["enum"]).or_else(|| last(&items["anyOf"]));
            choice.into_iter().collect()
        }
        _ if schema["format"] == "email" => "ada@localhost.localdomain".into(),
        _ => format!("my {name}").into(),
    }
}

pub async fn over_stdio(command: &str, arguments: &[&str]) -> Result<ExitCode> {
    let mut command = tokio::process::Command::new(command);
    command.args(arguments);
    let client = Client::default();
    let transport = TokioChildProcess::new(command)?;
    let running = client.clone().serve_with_lifecycle(transport, lifecycle()).await?;
    take_all(client, running).await
}

pub async fn over_http(url: &str) -> Result<ExitCode> {
    let client = Client::default();
    let transport = StreamableHttpClientTransport::from_uri(url.to_owned());
    let running = client.clone().serve_with_lifecycle(transport, lifecycle()).await?;
    take_all(client, running).await
}

/// How the client begins.
fn lifecycle() -> ClientLifecycleMode {
    let preferred_versions = vec![STATELESS];
    match std::env::var("MCP_MODE").as_deref() {
        Ok("auto") => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
        Ok("stateless") => ClientLifecycleMode::Discover { preferred_versions },
        _ => ClientLifecycleMode::Initialize,
    }
}

async fn take_all(client: Client, running: RunningService<RoleClient, Client>) -> Result<ExitCode> {
    client.with(|memory| memory.roots.push("file:///project/one".to_owned()));
    let steps = Steps {
        client,
        peer: running.peer().clone(),
        running,
        is_stateless: lifecycle() != ClientLifecycleMode::Initialize,
    };
    let mut good = true;
    let taken = if steps.is_stateless {
        &STEPS[..]
    } else {
        &STEPS[..STEPS.len() - STATELESS_STEPS]
    };
    for &step in taken {
        let taken = timeout(STEP, steps.take(step))
            .await
            .unwrap_or_else(|_| bail!("not done after {STEP:?}"));
        let (status, detail) = match taken {
            Ok(detail) => ("ok", detail),
            Err(error) if error.is::<Absent>() => ("absent", error.to_string()),
            Err(error) => ("failed", format!("{error:#}")),
        };
        good &= status != "failed";
        println!("{}", json!({"step": step, "status": status, "detail": detail}));
    }
    steps.running.cancel().await?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

struct Steps {
    client: Client,
    peer: Peer<RoleClient>,
    running: RunningService<RoleClient, Client>,
    is_stateless: bool,
}

impl Steps {
    async fn take(&self, step: &str) -> Result<String> {
        match step {
            "initialize" => self.initialized(),
            "ping" => self.ping().await,
            "tools/list" => self.list_tools().await,
            "tools/call" => self.call_tools().await,
            "tools/call error" => self.call_failing().await,
            "tools/call structured" => self.call_structured().await,
            "progress" => self.progress().await,
            "cancel" => self.cancel().await,
            "resources/list" => self.list_resources().await,
            "resources/read" => self.read_resources().await,
            "resources/templates" => self.use_template().await,
            "resources/subscribe" => self.subscribe().await,
            "prompts/list" => self.list_prompts().await,
            "prompts/get" => self.get_prompts().await,
            "completion" => self.completion().await,
            "logging" => self.logging().await,
            "sampling" => self.sampling().await,
            "roots" => self.roots().await,
            "elicitation" => self.elicitation().await,
            "list_changed" => self.list_changed().await,
            "rounds" => self.rounds().await,
            "caching" => self.caching().await,
            _ => bail!("no such step"),
        }
    }

    async fn call(&self, name: &str, given: Value) -> Result<Value, ServiceError> {
        let meta = self.client.with(|memory| memory.meta.clone());
        let params = json!({"name": name, "arguments": given, "_meta": meta});
        let params = typed(params).map_err(ServiceError::McpError)?;
        // What the result asks is answered by the client, which calls again.
        self.running.call_tool(params).await.map(json)
    }

    /// Calls a tool that must succeed, and answers with the texts of its result.
    async fn call_for_text(&self, name: &str, given: Value) -> Result<String> {
        let result = self.call(name, given).await?;
        let texts: Vec<&str> = blocks(&result)
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect();
        ensure!(
            result["isError"] != true,
            "{name} answered with an error: {}",
            texts.join("\n")
        );
        Ok(texts.join("\n"))
    }

    fn initialized(&self) -> Result<String> {
        let info = json(self.peer.peer_info().context("nothing is known of the server")?);
        Ok(format!(
            "negotiated {} with {}",
            info["protocolVersion"], info["serverInfo"]["name"]
        ))
    }

    async fn ping(&self) -> Result<String> {
        if self.is_stateless {
            bail!(Absent("the revision has no ping"));
        }
        let answer = self
            .peer
            .send_request(ClientRequest::PingRequest(PingRequest::default()))
            .await?;
        Ok(json(answer).to_string())
    }

    async fn names_of_tools(&self) -> Result<Vec<String>> {
        let tools = self.peer.list_all_tools().await?;
        Ok(tools.iter().map(|tool| tool.name.to_string()).collect())
    }

    async fn list_tools(&self) -> Result<String> {
        let tools = json(self.peer.list_all_tools().await?);
        let named = |name: &str| {
            let mut all = tools.as_array().into_iter().flatten();
            all.find(|tool| tool["name"] == name)
                .with_context(|| format!("{name} is not listed"))
        };
        named("test_simple_text")?;
        named("test_tool_with_progress")?;
        ensure!(
            named("test_dynamic").is_err(),
            "test_dynamic is listed before it was added"
        );
        let schema = &named("json_schema_2020_12_tool")?["inputSchema"];
        ensure!(
            schema["$defs"]["address"].is_object(),
            "the definitions of a tool's schema are lost"
        );
        ensure!(
            schema["additionalProperties"] == false,
            "a keyword of a tool's schema is lost"
        );
        let structured = &named("test_structured")?["outputSchema"]["properties"];
        ensure!(structured["celsius"].is_object(), "an output schema is lost");
        Ok(format!("{} tools", tools.as_array().map_or(0, Vec::len)))
    }

    async fn call_tools(&self) -> Result<String> {
        let text = self.call("test_simple_text", json!({})).await?;
        ensure!(
            text["content"][0]["type"] == "text" && text["content"][0]["text"] != "",
            "no text: {text}"
        );
        let image = self.call("test_image_content", json!({})).await?;
        ensure!(image["content"][0]["mimeType"] == "image/png", "no picture: {image}");
        check_png(&image["content"][0]["data"])?;
        let embedded = self.call("test_embedded_resource", json!({})).await?;
        ensure!(
            embedded["content"][0]["resource"]["uri"] == "test://embedded-resource",
            "no resource: {embedded}"
        );
        let several = self.call("test_multiple_content_types", json!({})).await?;
        let kinds: Vec<&str> = blocks(&several)
            .iter()
            .filter_map(|block| block["type"].as_str())
            .collect();
        ensure!(kinds == ["text", "image", "resource"], "other content: {kinds:?}");
        let audio = self.call("test_audio_content", json!({})).await?;
        let sound = &audio["content"][0];
        ensure!(
            sound["type"] == "audio" && sound["mimeType"] == "audio/wav",
            "no sound: {audio}"
        );
        ensure!(decoded(&sound["data"])?.starts_with(b"RIFF"), "no sound: {audio}");
        let back = self.call_for_text("test_reconnection", json!({})).await?;
        Ok(format!("{}, audio, {back}", kinds.join(", ")))
    }

    async fn call_failing(&self) -> Result<String> {
        let failed = self.call("test_error_handling", json!({})).await?;
        ensure!(
            failed["isError"] == true && failed["content"][0]["text"] != "",
            "no error: {failed}"
        );
        let unknown = error_of(self.call("test_no_such_tool", json!({})).await)?;
        ensure!(unknown.code.0 == INVALID_PARAMS, "{unknown:?}");
        // A model reads what is wrong with its arguments.
        let invalid = self.call("test_touch_resource", json!({"uri": 5})).await?;
        let reason = invalid["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(
            invalid["isError"] == true && reason.contains("uri"),
            "no error: {invalid}"
        );
        Ok(format!(
            "isError: {}; unknown tool: {}; invalid arguments: {reason}",
            failed["content"][0]["text"], unknown.message
        ))
    }

    async fn call_structured(&self) -> Result<String> {
        let result = self.call("test_structured", json!({})).await?;
        let expected = json!({"celsius": 21.5, "city": "Bern"});
        ensure!(result["structuredContent"] == expected, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(serde_json::from_str::<Value>(text)? == expected, "{text}");
        Ok(text.to_owned())
    }

    /// rmcp sends a token with every call.
    async fn progress(&self) -> Result<String> {
        self.client.forget();
        self.call_for_text("test_tool_with_progress", json!({})).await?;
        self.client.until_told("notifications/progress", 3).await?;
        let reports = self.client.told("notifications/progress");
        let mut seen: Vec<(Option<f64>, Option<f64>)> = reports
            .iter()
            .map(|report| (report["progress"].as_f64(), report["total"].as_f64()))
            .collect();
        // rmcp handles each notification in a task of its own, and so in any order.
        seen.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
        let expected = [0.0, 50.0, 100.0].map(|progress| (Some(progress), Some(100.0)));
        ensure!(seen == expected, "other progress: {reports:?}");
        Ok("0, 50, 100 of 100".to_owned())
    }

    async fn cancel(&self) -> Result<String> {
        let count = async || {
            anyhow::Ok(
                self.call_for_text("test_cancelled", json!({}))
                    .await?
                    .parse::<usize>()?,
            )
        };
        let before = count().await?;
        // The server must have begun: over HTTP, a cancellation could overtake what it cancels.
        let slow = timeout(HEAD_START, self.call("test_slow", json!({}))).await;
        ensure!(slow.is_err(), "the slow call was answered");
        let waiting = async {
            while count().await? != before + 1 {
                sleep(POLL).await;
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, waiting)
            .await
            .context("waited in vain for the slow call's end")??;
        Ok("cancelled by dropping the call".to_owned())
    }

    async fn list_resources(&self) -> Result<String> {
        let resources = self.peer.list_all_resources().await?;
        let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        for uri in ["test://static-text", "test://static-binary", WATCHED] {
            ensure!(uris.contains(&uri), "no {uri}");
        }
        Ok(uris.join(", "))
    }

    async fn read(&self, uri: &str) -> Result<Value, ServiceError> {
        let params = typed(json!({"uri": uri})).map_err(ServiceError::McpError)?;
        self.peer
            .read_resource(params)
            .await
            .map(|result| json(result)["contents"][0].clone())
    }

    async fn read_resources(&self) -> Result<String> {
        let text = self.read("test://static-text").await?;
        ensure!(text["mimeType"] == "text/plain" && text["text"] != "", "{text}");
        let binary = self.read("test://static-binary").await?;
        ensure!(binary["mimeType"] == "image/png", "{binary}");
        check_png(&binary["blob"])?;
        let missing = "test://no-such-resource";
        let unknown = error_of(self.read(missing).await)?;
        let code = if self.is_stateless {
            INVALID_PARAMS
        } else {
            RESOURCE_NOT_FOUND
        };
        ensure!(unknown.code.0 == code, "{unknown:?}");
        ensure!(unknown.data == Some(json!({"uri": missing})), "{unknown:?}");
        Ok(format!("{}; unknown resource: {}", text["text"], unknown.message))
    }

    async fn use_template(&self) -> Result<String> {
        let templates = self.peer.list_all_resource_templates().await?;
        let known = templates
            .iter()
            .any(|template| template.uri_template == "test://template/{id}/data");
        ensure!(known, "only {templates:?}");
        let read = self.read("test://template/4711/data").await?;
        let text = read["text"].as_str().unwrap_or_default();
        ensure!(text.contains("4711"), "{read}");
        Ok(text.to_owned())
    }

    async fn subscribe(&self) -> Result<String> {
        let method = "notifications/resources/updated";
        let touch = || self.call_for_text("test_touch_resource", json!({"uri": WATCHED}));
        self.client.forget();
        if self.is_stateless {
            let mut subscription = self
                .peer
                .listen(typed(json!({"resourceSubscriptions": [WATCHED]}))?)
                .await?;
            touch().await?;
            self.hear(&mut subscription).await?;
            subscription.cancel().await?;
        } else {
            self.peer.subscribe(typed(json!({"uri": WATCHED}))?).await?;
            touch().await?;
            self.client.until_told(method, 1).await?;
            self.peer.unsubscribe(typed(json!({"uri": WATCHED}))?).await?;
        }
        touch().await?;
        sleep(SILENCE).await;
        let told = self.client.told(method);
        ensure!(told.len() == 1 && told[0]["uri"] == WATCHED, "{told:?}");
        Ok("told once while subscribed, not after".to_owned())
    }

    /// Notes the next notification of a subscription.
    async fn hear(&self, subscription: &mut Subscription) -> Result<()> {
        let heard = timeout(PATIENCE, subscription.next())
            .await
            .context("waited in vain")??;
        let heard = json(heard.context("the subscription has ended")?);
        let known = ["notifications/resources/updated", "notifications/tools/list_changed"];
        let method = known.into_iter().find(|method| heard["method"] == *method);
        self.client
            .note(method.context("another notification")?, heard["params"].clone());
        Ok(())
    }

    async fn list_prompts(&self) -> Result<String> {
        let prompts = json(self.peer.list_all_prompts().await?);
        let mut all = prompts.as_array().into_iter().flatten();
        let prompt = all
            .find(|prompt| prompt["name"] == "test_prompt_with_arguments")
            .context("not listed")?;
        let arguments = prompt["arguments"].as_array().into_iter().flatten();
        let arguments: Vec<Value> = arguments.map(|each| json!([each["name"], each["required"]])).collect();
        ensure!(arguments == [json!(["arg1", true]), json!(["arg2", true])], "{prompt}");
        Ok(format!("{} prompts", prompts.as_array().map_or(0, Vec::len)))
    }

    async fn prompt(&self, name: &str, given: Value) -> Result<Value, ServiceError> {
        let params = typed(json!({"name": name, "arguments": given})).map_err(ServiceError::McpError)?;
        self.peer
            .get_prompt(params)
            .await
            .map(|result| json(result)["messages"][0]["content"].clone())
    }

    async fn get_prompts(&self) -> Result<String> {
        let simple = self.prompt("test_simple_prompt", json!({})).await?;
        ensure!(simple["text"].as_str().is_some_and(|text| !text.is_empty()), "{simple}");
        let filled = self
            .prompt("test_prompt_with_arguments", json!({"arg1": "hello", "arg2": "world"}))
            .await?;
        let text = filled["text"].as_str().unwrap_or_default();
        ensure!(text.contains("hello") && text.contains("world"), "{filled}");
        let resource = json!({"resourceUri": "test://example"});
        let embedded = self.prompt("test_prompt_with_embedded_resource", resource).await?;
        ensure!(embedded["resource"]["uri"] == "test://example", "{embedded}");
        check_png(&self.prompt("test_prompt_with_image", json!({})).await?["data"])?;
        let unknown = error_of(self.prompt("test_no_such_prompt", json!({})).await)?;
        ensure!(unknown.code.0 == INVALID_PARAMS, "{unknown:?}");
        Ok(format!("{text}; unknown prompt: {}", unknown.message))
    }

    async fn completion(&self) -> Result<String> {
        let complete = async |reference: Value, name: &str, value: &str| {
            let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
            let completed = json(self.peer.complete(typed(params)?).await?);
            anyhow::Ok(completed["completion"]["values"].clone())
        };
        let prompt = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let all = complete(prompt.clone(), "arg1", "par").await?;
        ensure!(all == json!(["paris", "park", "party"]), "{all}");
        let one = complete(prompt, "arg1", "part").await?;
        ensure!(one == json!(["party"]), "{one}");
        let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
        let ids = complete(template, "id", "1").await?;
        let ids = ids.as_array().context("no list")?;
        let fits = |id: &Value| id.as_str().is_some_and(|id| id.starts_with('1'));
        ensure!(!ids.is_empty() && ids.iter().all(fits), "{ids:?}");
        Ok(format!("{all}; {} ids", ids.len()))
    }

    async fn logging(&self) -> Result<String> {
        let method = "notifications/message";
        self.client.forget();
        self.want_logs("info").await?;
        self.call_for_text("test_tool_with_logging", json!({})).await?;
        self.client.until_told(method, 3).await?;
        self.want_logs("error").await?;
        self.call_for_text("test_tool_with_logging", json!({})).await?;
        sleep(SILENCE).await;
        let told = self.client.told(method);
        ensure!(
            told.len() == 3 && told.iter().all(|message| message["level"] == "info"),
            "{told:?}"
        );
        Ok("three messages".to_owned())
    }

    /// Wants the log messages of this level and above: from now on, or with each call.
    async fn want_logs(&self, level: &str) -> Result<()> {
        if self.is_stateless {
            self.client
                .with(|memory| memory.meta.insert(LOG_LEVEL.to_owned(), level.into()));
        } else {
            self.peer.set_level(typed(json!({"level": level}))?).await?;
        }
        Ok(())
    }

    async fn sampling(&self) -> Result<String> {
        let text = self
            .call_for_text("test_sampling", json!({"prompt": "the time in Bern"}))
            .await?;
        ensure!(text.contains("heard: the time in Bern"), "{text}");
        Ok(text)
    }

    async fn roots(&self) -> Result<String> {
        for more in [None, Some("file:///project/two")] {
            if let Some(uri) = more {
                self.client.with(|memory| memory.roots.push(uri.to_owned()));
                if !self.is_stateless {
                    self.peer.notify_roots_list_changed().await?;
                }
            }
            let listed: Vec<String> = serde_json::from_str(&self.call_for_text("test_roots", json!({})).await?)?;
            ensure!(listed == self.client.with(|memory| memory.roots.clone()), "{listed:?}");
        }
        Ok("one root, then two".to_owned())
    }

    async fn elicitation(&self) -> Result<String> {
        let mut texts = Vec::new();
        for (tool, given) in [
            ("test_elicitation", json!({"message": "Who are you?"})),
            ("test_elicitation_sep1034_defaults", json!({})),
            ("test_elicitation_sep1330_enums", json!({})),
        ] {
            let text = self.call_for_text(tool, given).await?;
            for (name, answer) in self.client.with(|memory| memory.answered.clone()) {
                ensure!(
                    text.contains(&answer.to_string()),
                    "{tool}: {name} was {answer}, but the server says: {text}"
                );
            }
            texts.push(text);
        }
        Ok(texts.join("; "))
    }

    async fn list_changed(&self) -> Result<String> {
        let mut subscription = match self.is_stateless {
            true => Some(self.peer.listen(typed(json!({"toolsListChanged": true}))?).await?),
            false => None,
        };
        for listed in [true, false] {
            self.client.forget();
            self.call_for_text("test_list_changed", json!({})).await?;
            match &mut subscription {
                Some(subscription) => self.hear(subscription).await?,
                None => self.client.until_told("notifications/tools/list_changed", 1).await?,
            }
            let names = self.names_of_tools().await?;
            ensure!(names.iter().any(|name| name == "test_dynamic") == listed, "{names:?}");
        }
        if let Some(mut subscription) = subscription {
            subscription.cancel().await?;
        }
        Ok("test_dynamic came and went".to_owned())
    }

    /// Several questions at once, and one after the other.
    async fn rounds(&self) -> Result<String> {
        let together = self
            .call_for_text("test_input_required_result_multiple_inputs", json!({}))
            .await?;
        let root = self.client.with(|memory| memory.roots[0].clone());
        for answer in ["my name", "heard: ", &root] {
            ensure!(together.contains(answer), "{together}");
        }
        let in_turn = self
            .call_for_text("test_input_required_result_multi_round", json!({}))
            .await?;
        ensure!(in_turn.contains("my name") && in_turn.contains("my color"), "{in_turn}");
        Ok(format!("{together}; {in_turn}"))
    }

    async fn caching(&self) -> Result<String> {
        let read = typed(json!({"uri": "test://static-text"}))?;
        let results = [
            json(self.peer.list_tools(None).await?),
            json(self.peer.list_prompts(None).await?),
            json(self.peer.list_resources(None).await?),
            json(self.peer.list_resource_templates(None).await?),
            json(self.running.read_resource(read).await?),
        ];
        let hints: Vec<Value> = results
            .iter()
            .map(|result| json!([result["ttlMs"], result["cacheScope"]]))
            .collect();
        for hint in &hints {
            ensure!(
                hint[0].is_u64() && (hint[1] == "public" || hint[1] == "private"),
                "{hints:?}"
            );
        }
        Ok(Value::from(hints).to_string())
    }
}

fn blocks(result: &Value) -> &[Value] {
    result["content"].as_array().map_or(&[], Vec::as_slice)
}

/// The error that a call must end with.
fn error_of<T: std::fmt::Debug>(called: Result<T, ServiceError>) -> Result<ErrorData> {
    match called {
        Err(ServiceError::McpError(error)) => Ok(error),
        other => bail!("should have failed, but ended with {other:?}"),
    }
}

fn decoded(base64: &Value) -> Result<Vec<u8>> {
    Ok(BASE64_STANDARD.decode(base64.as_str().unwrap_or_default())?)
}

fn check_png(base64: &Value) -> Result<()> {
    ensure!(decoded(base64)?.get(1..4) == Some(b"PNG"), "no picture: {base64}");
    Ok(())
}
