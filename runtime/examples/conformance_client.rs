//! The client for the official conformance suite, in the revision that the suite names. It calls every tool of the
//! server at the URL given as its last argument, with the arguments that the suite names or with ones made up from the
//! tool's schema. It also gets every prompt and reads every resource. If the server requires a token, the user agrees
//! immediately.

use std::collections::HashMap;

use mcp_runtime::auth::{
    Authorizer, BoxError, BoxFuture, Client, IdentityProvider, ResourceMetadata, SigningKey, UserAgent,
};
use mcp_runtime::hub::{
    self, CallToolRequestParams, ElicitRequestParams, ElicitResult, ElicitResultAction, ElicitResultContentValue,
    GetPromptRequestParams, PrimitiveSchemaDefinition, ReadResourceRequestParams,
};
use mcp_runtime::mcp_wire::Map;
use mcp_runtime::transport::http::client::reqwest::{self, Url};
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallServer, ClientHandler, ClientSide, Context, ErrorObject, Options, connect, error_code};
use serde_json::{Value, json};

type AnyError = Box<dyn std::error::Error>;

/// A user who accepts every form with its default values.
struct Agreeable;

impl ClientHandler<Context<ClientSide>> for Agreeable {
    async fn elicit(&self, params: ElicitRequestParams, _: &Context<ClientSide>) -> Result<ElicitResult, ErrorObject> {
        let ElicitRequestParams::Form(form) = params else {
            return Err(ErrorObject::new(error_code::INVALID_PARAMS, "only forms are answered"));
        };
        let fields = form.requested_schema.properties;
        let content = fields
            .into_iter()
            .filter_map(|(name, field)| Some((name, default_of(field)?)));
        Ok(ElicitResult::new(ElicitResultAction::Accept).with_content(content.collect()))
    }
}

/// Returns the default value of a field.
fn default_of(field: PrimitiveSchemaDefinition) -> Option<ElicitResultContentValue> {
    match field {
        PrimitiveSchemaDefinition::String(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::Number(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::Boolean(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::UntitledSingleSelectEnum(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::TitledSingleSelectEnum(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::LegacyTitledEnum(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::UntitledMultiSelectEnum(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::TitledMultiSelectEnum(field) => field.default.map(Into::into),
        PrimitiveSchemaDefinition::Unknown(_) => None,
    }
}

/// A user whose browser follows the redirect of the authorization server.
struct Browser;

impl UserAgent for Browser {
    fn redirect_uri(&self) -> &str {
        "http://localhost:3000/callback"
    }

    fn authorize<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Url, BoxError>> {
        Box::pin(async move {
            let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            let response = browser.build()?.get(url.clone()).send().await?;
            let location = response.headers().get("location").ok_or("there is no redirect")?;
            Ok(url.join(location.to_str()?)?)
        })
    }
}

/// Returns the authorization server that a server names. The suite registers the client there, but doesn't always state
/// that; any other program has to know its authorization server.
async fn issuer_of(server: &str) -> Result<String, AnyError> {
    let mut place = Url::parse(server)?;
    place.set_path(&format!("/.well-known/oauth-protected-resource{}", place.path()));
    let metadata: ResourceMetadata = serde_json::from_slice(&reqwest::get(place).await?.bytes().await?)?;
    let issuer = metadata.authorization_servers.into_iter().next();
    Ok(issuer.ok_or("the server names no authorization server")?)
}

/// Chooses the authorization by the suite's context: with a key, a JWT or an identity provider that vouches for the
/// client, a secret, or a user.
async fn authorizer(server: &str) -> Result<Authorizer, AnyError> {
    let context = context();
    let text = |name: &str| context[name].as_str();
    let client = match text("client_id") {
        None => None,
        Some(id) => {
            let issuer = match text("issuer") {
                Some(issuer) => issuer.to_owned(),
                None => issuer_of(server).await?,
            };
            let client = Client::new(issuer, id);
            Some(text("client_secret").into_iter().fold(client, Client::secret))
        }
    };
    let is_without_user = std::env::var("MCP_CONFORMANCE_SCENARIO").is_ok_and(|it| it.contains("client-credentials"));
    let authorizer = match client {
        None => Authorizer::interactive(Browser),
        Some(client) => {
            if let Some(pem) = text("private_key_pem") {
                let key = SigningKey::from_pem(text("signing_algorithm").unwrap_or("ES256"), pem)?;
                Authorizer::client_credentials(client.key(key))
            } else if let Some(token) = text("valid_jwt").map(str::to_owned) {
                Authorizer::jwt_bearer(client, move |_| std::future::ready(Ok(token.as_str().into())))
            } else if let Some(id_token) = text("idp_id_token") {
                let [endpoint, id] = ["idp_token_endpoint", "idp_client_id"].map(|name| text(name).unwrap_or_default());
                Authorizer::jwt_bearer(client, IdentityProvider::new(endpoint, id, id_token))
            } else if is_without_user {
                Authorizer::client_credentials(client)
            } else {
                Authorizer::interactive(Browser).client(client)
            }
        }
    };
    let document = "https://conformance-test.local/client-metadata.json";
    Ok(authorizer.metadata_document(document).dpop(true))
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let url = std::env::args().next_back().ok_or("the URL of a server is missing")?;
    let transport = HttpClient::new(&url, HttpOptions::default().authorizer(authorizer(&url).await?))?;
    let info = hub::Implementation::new("conformance-client", env!("CARGO_PKG_VERSION"));
    let capabilities = hub::ClientCapabilities::default()
        .with_elicitation(hub::ClientCapabilitiesElicitation::default().with_form(json!({"applyDefaults": true})));
    let session = connect(Agreeable, info, capabilities, options()?, transport).await?;

    let server = session.peer();
    let offers = |capability: &str| {
        let info = server.info();
        info.is_some_and(|info| info.capabilities.get(capability).is_some())
    };
    if offers("tools") {
        let tools = server.list_tools(hub::PaginatedRequestParams::default()).await?.tools;
        let named = named_arguments();
        let schemas: Vec<Value> = tools.iter().map(|tool| json!(tool.input_schema)).collect();
        for (tool, schema) in tools.iter().zip(&schemas) {
            let mut params = CallToolRequestParams::new(&tool.name);
            let made_up = || arguments(schema, &schemas).into_iter().collect();
            let arguments: serde_json::Map<_, _> = named.get(&tool.name).cloned().unwrap_or_else(made_up);
            params.arguments = Some(arguments.into());
            let result = server.call_tool(params).await?;
            println!("{}: {}", tool.name, serde_json::to_string(&result)?);
        }
    }
    if offers("prompts") {
        for prompt in server
            .list_prompts(hub::PaginatedRequestParams::default())
            .await?
            .prompts
        {
            let mut params = GetPromptRequestParams::new(&prompt.name);
            let required = prompt
                .arguments
                .into_iter()
                .flatten()
                .filter(|argument| argument.required == Some(true));
            params.arguments = Some(required.map(|argument| (argument.name, "text".to_owned())).collect());
            server.get_prompt(params).await?;
        }
    }
    if offers("resources") {
        for resource in server
            .list_resources(hub::PaginatedRequestParams::default())
            .await?
            .resources
        {
            server
                .read_resource(ReadResourceRequestParams::new(resource.uri))
                .await?;
        }
    }
    session.close().await;
    Ok(())
}

/// Returns options with the revision that the suite names, or the default options.
fn options() -> Result<Options, AnyError> {
    let mut options = Options::default();
    if let Ok(revision) = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION") {
        options.supported = vec![revision.parse()?];
    }
    Ok(options)
}

/// Returns the suite's context of the scenario.
fn context() -> Value {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    serde_json::from_str(&context).unwrap_or_default()
}

/// Returns the arguments that the suite names, by tool.
fn named_arguments() -> HashMap<String, serde_json::Map<String, Value>> {
    let context = context();
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    let calls = calls.filter_map(|call| {
        Some((
            call["name"].as_str()?.to_owned(),
            call["arguments"].as_object()?.clone(),
        ))
    });
    calls.collect()
}

/// Makes up a value for each required argument. For a schema, it is the schema of the server's first tool, unchanged.
fn arguments(schema: &Value, schemas: &[Value]) -> Map<Value> {
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    required
        .map(|name| {
            let argument = match (name, schema["properties"][name]["type"].as_str()) {
                ("schema", Some("object")) => schemas[0].clone(),
                (_, Some("number" | "integer")) => json!(2),
                (_, Some("boolean")) => json!(true),
                (_, Some("object")) => json!({}),
                (_, Some("array")) => json!([]),
                _ => json!("text"),
            };
            (name.to_owned(), argument)
        })
        .collect()
}
