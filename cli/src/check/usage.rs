//! Use of everything that a server offers.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use mcp_adapters::mcp_wire::json_schema::{ProblemKind, ViolationKind};
use mcp_adapters::mcp_wire::{RawJson, Validator, from_str};
use mcp_runtime::hub::{
    self, CallToolRequestParams, ClientCapabilities, ClientRequest, CompleteRequestParams,
    CompleteRequestParamsArgument, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ElicitResultAction, GetPromptRequestParams, Prompt, PromptReference, ReadResourceRequestParams, Resource,
    ResourceTemplate, Role, ServerResult, Tool,
};
use mcp_runtime::mcp_wire::ErrorObject;
use mcp_runtime::{CallError, CallServer, Capable, ChangeFilter, ClientHandler, ClientSide, Context, Paginated, Peer};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::example::example;
use crate::args::{CheckArgs, ToolPolicy};
use crate::client::shown;
use crate::error::CommandError;
use crate::input_file::read_text;
use crate::report::Finding;
use crate::suggest::tip;
use crate::text::one_line;

/// The time to wait for change notifications.
const CHANGES: Duration = Duration::from_millis(100);

/// A client that returns example messages of a model and no roots, and declines elicitations. The server's requests are
/// validated like all its messages.
pub struct Declining;

impl Capable for Declining {
    fn capabilities(&self) -> ClientCapabilities {
        from_str(r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}"#).unwrap_or_default()
    }
}

impl ClientHandler<Context<ClientSide>> for Declining {
    async fn elicit(&self, _: ElicitRequestParams, _: &Context<ClientSide>) -> Result<ElicitResult, ErrorObject> {
        Ok(ElicitResult::new(ElicitResultAction::Decline))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<CreateMessageResult, ErrorObject> {
        let text = hub::TextContent::new("example");
        Ok(CreateMessageResult::new("mcp-rev", Role::Assistant, text))
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        Ok(hub::ListRootsResult::new(Vec::new()))
    }
}

/// The arguments for tools from the command line, by tool name.
pub type Arguments = HashMap<String, Map<String, Value>>;

/// Reads the arguments from a file, or from the JSON object given instead of a file name.
pub fn read_arguments(file: Option<&Path>) -> Result<Arguments, CommandError> {
    let Some(file) = file else { return Ok(Arguments::new()) };
    if let Some(json) = file.to_str().filter(|text| text.starts_with('{')) {
        let invalid = |error| CommandError::Argument(format!("--arguments: {error}"));
        return serde_json::from_str(json).map_err(invalid);
    }
    let text = read_text(file).map_err(|error| CommandError::file(file, error))?;
    serde_json::from_str(&text).map_err(|error| CommandError::file(file, error))
}

/// The findings beyond validation against the schema, by case.
#[derive(Default)]
pub struct Found {
    pub faults: Vec<(String, Finding)>,
    pub warnings: Vec<(String, String)>,
    /// The lists that can't be read to their end, and the reasons.
    pub unfinished: Vec<(String, String)>,
    /// The lists of which only the first items were used.
    pub cut: Vec<String>,
    /// The number of tools that weren't called, because they don't declare that they change nothing.
    pub uncalled: usize,
    /// The error of the first request that isn't answered because the server's process has exited.
    pub gone: Option<CallError>,
}

impl Found {
    /// Keeps the error of a request, if the server's process has exited.
    fn failed(&mut self, error: CallError) {
        if matches!(error, CallError::Exited(_)) {
            self.gone.get_or_insert(error);
        }
    }

    /// Warns of a tool whose schemas aren't valid.
    fn check_schemas(&mut self, tool: &Tool) {
        let schemas = [
            ("inputSchema", Some(&tool.input_schema)),
            ("outputSchema", tool.output_schema.as_ref()),
        ];
        for (member, schema) in schemas {
            let schema = schema.and_then(|schema| schema.parse::<Value>().ok());
            let Some(Err(error)) = schema.map(|schema| Validator::new(&schema)) else {
                continue;
            };
            let mut problems = error.problems().iter();
            if let Some(problem) = problems.find(|problem| problem.kind != ProblemKind::UnsupportedPattern) {
                let (tool, problem) = (one_line(&tool.name), one_line(&problem.to_string()));
                let warning = format!("the {member} of {tool} can't be followed: {problem}");
                self.warnings.push((case_of_list::<Tool>(), warning));
            }
        }
    }
}

/// Lists and uses everything. Errors of calls aren't faults here: the messages are validated later, as they were on the
/// wire.
pub async fn use_server(peer: &Peer<ClientSide>, args: &CheckArgs, arguments: &Arguments) -> Found {
    // Nobody reads the progress, but this requests it from the server.
    let peer = &peer.clone().with_progress(mpsc::channel(1).0);
    let mut found = Found::default();
    // The tools that the arguments name can be anywhere in the list.
    let tools: Vec<Tool> = list(peer, args.limit, !arguments.is_empty(), &mut found).await;
    let resources: Vec<Resource> = list(peer, args.limit, false, &mut found).await;
    let templates: Vec<ResourceTemplate> = list(peer, args.limit, false, &mut found).await;
    let prompts: Vec<Prompt> = list(peer, args.limit, false, &mut found).await;
    for resource in resources.iter().take(args.limit) {
        if let Err(error) = peer.read_resource(ReadResourceRequestParams::new(&resource.uri)).await {
            found.failed(error);
        }
    }
    for prompt in prompts.iter().take(args.limit) {
        get_prompt(peer, prompt, &mut found).await;
    }
    for template in templates.iter().take(args.limit) {
        let reference = hub::ResourceTemplateReference::new(&template.uri_template);
        if let Some(variable) = first_variable(&template.uri_template) {
            complete(peer, reference.into(), variable, &mut found).await;
        }
    }
    follow_changes(peer, resources.first()).await;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    for name in arguments.keys().filter(|name| !names.contains(&name.as_str())) {
        let unknown = format!(
            "--arguments names this tool, but the server doesn't list it; {}",
            tip(name, &names)
        );
        found.faults.push((format!("tools/call {name}"), Finding::new(unknown)));
    }
    for (place, tool) in tools.iter().enumerate() {
        let given = arguments.get(&tool.name);
        if place >= args.limit && given.is_none() {
            continue;
        }
        found.check_schemas(tool);
        let is_read_only = tool.annotations.as_ref().and_then(|it| it.read_only_hint) == Some(true);
        let is_called = match args.tools {
            ToolPolicy::All => true,
            ToolPolicy::ReadOnly => is_read_only || given.is_some(),
            ToolPolicy::None => given.is_some(),
        };
        if is_called {
            call(peer, tool, given, &mut found).await;
        } else if args.tools == ToolPolicy::ReadOnly {
            found.uncalled += 1;
        }
    }
    found
}

/// The items of a list up to the one after the limit, or all, until it fails; none if the server doesn't have the list.
async fn list<T: Paginated<ClientRequest, ServerResult> + Send + 'static>(
    peer: &Peer<ClientSide>,
    limit: usize,
    is_whole: bool,
    found: &mut Found,
) -> Vec<T> {
    let most = if is_whole { usize::MAX } else { limit.saturating_add(1) };
    let (mut items, mut listed) = (Vec::new(), peer.list::<T>().take(most));
    let case = case_of_list::<T>;
    while let Some(item) = listed.next().await {
        match item {
            Ok(item) => items.push(item),
            Err(CallError::InvalidResult(reason)) => found.unfinished.push((case(), reason)),
            Err(error) => found.failed(error),
        }
    }
    if items.len() > limit {
        found.cut.push(case());
    }
    items
}

/// The case of the requests for a list.
fn case_of_list<T: Paginated<ClientRequest, ServerResult>>() -> String {
    T::page(None).method().to_owned()
}

async fn get_prompt(peer: &Peer<ClientSide>, prompt: &Prompt, found: &mut Found) {
    let arguments = || prompt.arguments.iter().flatten();
    let required = arguments().filter(|it| it.required == Some(true));
    let required: mcp_adapters::mcp_wire::Map<String> =
        required.map(|it| (it.name.clone(), "example".to_owned())).collect();
    let mut params = GetPromptRequestParams::new(&prompt.name);
    if !required.is_empty() {
        params = params.with_arguments(required);
    }
    if let Err(error) = peer.get_prompt(params).await {
        found.failed(error);
    }
    if let Some(argument) = arguments().next() {
        complete(peer, PromptReference::new(&prompt.name).into(), &argument.name, found).await;
    }
}

async fn complete(peer: &Peer<ClientSide>, reference: hub::CompletionReference, name: &str, found: &mut Found) {
    let argument = CompleteRequestParamsArgument::new(name, "");
    if let Err(error) = peer.complete(CompleteRequestParams::new(argument, reference)).await {
        found.failed(error);
    }
}

/// The name of the first variable of a URI template.
fn first_variable(template: &str) -> Option<&str> {
    let (_, rest) = template.split_once('{')?;
    let (expression, _) = rest.split_once('}')?;
    let expression = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
    expression.split([',', ':', '*']).next().filter(|name| !name.is_empty())
}

/// Calls a tool, and validates its structured content against the output schema of the tool.
async fn call(peer: &Peer<ClientSide>, tool: &Tool, given: Option<&Map<String, Value>>, found: &mut Found) {
    let schema = tool.input_schema.parse::<Value>().unwrap_or_default();
    let arguments = match (given, example(&schema, &schema)) {
        (Some(given), _) => given.clone(),
        (None, Value::Object(members)) => members,
        (None, _) => Map::new(),
    };
    let called = peer.call_tool(CallToolRequestParams::new(&tool.name).with_arguments(arguments));
    let case = format!("tools/call {}", tool.name);
    let result = match called.await {
        Ok(result) => result,
        Err(CallError::Peer(error)) => {
            let warning = format!("it was called once, and refused: {}", one_line(&error.message));
            return found.warnings.push((case, warning));
        }
        Err(CallError::Exited(exit)) => return found.faults.push((case, Finding::new(exit.to_string()))),
        Err(_) => return,
    };
    if result.is_error == Some(true) {
        let text = result.content.first().map_or_else(String::new, shown);
        let warning = format!("it was called once, and ended in an error: {}", one_line(&text));
        found.warnings.push((case.clone(), warning));
    }
    let Some(declared) = tool.output_schema.as_ref().and_then(|it| it.parse::<Value>().ok()) else {
        return;
    };
    let structured = result
        .structured_content
        .as_ref()
        .and_then(|it: &RawJson| it.parse::<Value>().ok());
    let mut fault = |path: String, message: String| {
        let finding = Finding {
            path: Some(path),
            ..Finding::new(message)
        };
        found.faults.push((case.clone(), finding));
    };
    match (structured, Validator::new(&declared)) {
        (Some(structured), Ok(validator)) => {
            for violation in validator.validate("#", &structured) {
                let path = format!("result.structuredContent.{}", violation.path);
                let (expected, found, schema) = (violation.expected, violation.found, violation.schema);
                let message = match violation.kind {
                    ViolationKind::Unfinished => format!(
                        "the tool's outputSchema can't be applied to the end: at `{schema}` expected {expected}, found {found}"
                    ),
                    _ => format!("the tool's outputSchema expects {expected}, found {found}"),
                };
                fault(path, message);
            }
        }
        (None, _) if result.is_error != Some(true) => {
            let expected = "expected structured content, since the tool has an outputSchema, found none";
            fault("result.structuredContent".to_owned(), expected.to_owned());
        }
        _ => {}
    }
}

/// Subscribes to changes, and ends the subscription shortly after.
async fn follow_changes(peer: &Peer<ClientSide>, resource: Option<&Resource>) {
    let filter = ChangeFilter::lists();
    let filter = match resource {
        Some(resource) => filter.with_resource(&resource.uri),
        None => filter,
    };
    if let Ok(mut changes) = peer.changes(filter).await {
        let _ = tokio::time::timeout(CHANGES, changes.try_next()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_of_a_uri_template_is_found() {
        for (template, variable) in [
            ("a://{id}/b", Some("id")),
            ("a://{?q,r}", Some("q")),
            ("a://{+path*}", Some("path")),
            ("a://b", None),
            ("a://{}", None),
        ] {
            assert_eq!(first_variable(template), variable, "{template}");
        }
    }
}
