//! The client that the official conformance suite runs: it calls every tool of the server at the URL that is its last
//! argument, with arguments made up from the tool's schema.

use mcp_runtime::hub::{
    self, CallToolRequestParams, ElicitRequestParams, ElicitResult, ElicitResultAction, ElicitResultContentValue,
    PrimitiveSchemaDefinition,
};
use mcp_runtime::mcp_wire::Map;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallServer, ClientHandler, ClientSide, Context, ErrorObject, Options, connect, error_code};
use serde_json::{Value, json};

type AnyError = Box<dyn std::error::Error>;

/// A user who takes every form as it is.
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

/// What a field of a form is unless the user says otherwise.
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

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let url = std::env::args().next_back().ok_or("the URL of a server is missing")?;
    let transport = HttpClient::new(&url, HttpOptions::default())?;
    let info = hub::Implementation::new("conformance-client", env!("CARGO_PKG_VERSION"));
    let capabilities = hub::ClientCapabilities::default()
        .with_elicitation(hub::ClientCapabilitiesElicitation::default().with_form(json!({"applyDefaults": true})));
    let session = connect(Agreeable, info, capabilities, Options::default(), transport).await?;

    let server = session.peer();
    if server
        .info()
        .is_some_and(|info| info.capabilities.get("tools").is_some())
    {
        let tools = server.list_tools(None).await?.tools;
        let schemas: Vec<Value> = tools.iter().map(|tool| json!(tool.input_schema)).collect();
        for (tool, schema) in tools.iter().zip(&schemas) {
            let mut params = CallToolRequestParams::new(&tool.name);
            params.arguments = Some(
                arguments(schema, &schemas)
                    .into_iter()
                    .collect::<serde_json::Map<_, _>>()
                    .into(),
            );
            let result = server.call_tool(params).await?;
            println!("{}: {}", tool.name, serde_json::to_string(&result)?);
        }
    }
    session.close().await;
    Ok(())
}

/// An argument for each that the schema requires. One that is to be a schema is that of the server's first tool, as it
/// came.
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
