//! `mcp-rev inspect`

use std::collections::BTreeMap;
use std::io;

use futures_util::TryStreamExt;
use mcp_adapters::mcp_wire::{Map, RawJson, error_code};
use mcp_runtime::Paginated;
use mcp_runtime::hub::{ClientRequest, Implementation, Prompt, Resource, ResourceTemplate, ServerResult, Tool};
use mcp_runtime::{CallError, ClientSide, Era, Peer, Revision};
use serde::Serialize;
use serde_json::Value;

use super::arguments::kinds;
use super::handler::Client;
use super::{ResultWriter, in_session};
use crate::args::{Format, InspectArgs, ServerArgs, SnapshotArgs};
use crate::error::{CommandError, Summary};
use crate::paint::{BAD, HEADING, NONE, Paint};
use crate::plain::plain;
use crate::text::{one_line, write_heading, write_json, write_list, write_table};

/// What a server is and what it offers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inspection {
    server: Option<Implementation>,
    era: &'static str,
    revision: Option<Revision>,
    capabilities: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    tools: Listed<Tool>,
    resources: Listed<Resource>,
    resource_templates: Listed<ResourceTemplate>,
    prompts: Listed<Prompt>,
    /// The error of each incomplete list, by the member with the list.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    errors: BTreeMap<&'static str, String>,
}

/// The items received of a list.
#[derive(Serialize)]
#[serde(transparent)]
struct Listed<T> {
    items: Vec<T>,
    /// The error that ended the list early.
    #[serde(skip)]
    error: Option<CallError>,
}

/// Prints what a server is and what it offers.
pub fn inspect(args: &InspectArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    let summary = inspect_server(&args.server)?.write(args.format, &mut output)?;
    output.flush()?;
    Ok(summary)
}

/// Prints what the server of a session is and what it offers.
pub async fn inspect_with(peer: &Peer<ClientSide>, shown: &mut ResultWriter<'_>) -> Result<Summary, CommandError> {
    inspect_peer(peer).await.write(shown.format, shown.output)
}

/// Prints what a server offers, or an error if a list is incomplete.
pub fn snapshot(args: &SnapshotArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    let interface = interface_of(&args.server)?;
    write_json(&mut output, &interface)?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}

/// What a server is and offers, as JSON like that of `inspect --format json`.
pub fn interface_of(server: &ServerArgs) -> Result<Value, CommandError> {
    let inspection = inspect_server(server)?;
    if let Some((list, reason)) = inspection.errors.iter().next() {
        let (list, reason) = (*list, reason.clone());
        return Err(CommandError::List { list, reason });
    }
    Ok(serde_json::to_value(&inspection).map_err(io::Error::from)?)
}

fn inspect_server(server: &ServerArgs) -> Result<Inspection, CommandError> {
    in_session(server, Client::declining(), async |peer| Ok(inspect_peer(peer).await))
}

async fn inspect_peer(peer: &Peer<ClientSide>) -> Inspection {
    let info = peer.info();
    let (tools, resources, mut resource_templates, prompts) =
        (list(peer).await, list(peer).await, list(peer).await, list(peer).await);
    // Many servers with resources have no templates, and don't implement the method.
    let unknown = |error: &mut CallError| {
        error
            .error_object()
            .is_some_and(|it| it.code == error_code::METHOD_NOT_FOUND)
    };
    resource_templates.error.take_if(unknown);
    let errors = [
        ("tools", &tools.error),
        ("resources", &resources.error),
        ("resourceTemplates", &resource_templates.error),
        ("prompts", &prompts.error),
    ];
    let errors = errors
        .into_iter()
        .filter_map(|(list, error)| Some((list, error.as_ref()?.to_string())))
        .collect();
    Inspection {
        server: info.and_then(|info| info.implementation.clone()),
        era: match peer.era() {
            Some(Era::Stateless) => "stateless",
            _ => "handshake",
        },
        revision: peer.revision(),
        capabilities: info.map_or(Value::Null, |info| info.capabilities.clone()),
        instructions: info.and_then(|info| info.instructions.clone()),
        tools,
        resources,
        resource_templates,
        prompts,
        errors,
    }
}

/// Reads a list to its end or to an error; empty if the server doesn't have the list.
async fn list<T: Paginated<ClientRequest, ServerResult> + Send + 'static>(peer: &Peer<ClientSide>) -> Listed<T> {
    let mut items = Vec::new();
    let mut left = peer.list();
    let error = loop {
        match left.try_next().await {
            Ok(Some(item)) => items.push(item),
            Ok(None) | Err(CallError::NotOffered { .. }) => break None,
            Err(error) => break Some(error),
        }
    };
    Listed { items, error }
}

impl Inspection {
    fn write(&self, format: Format, output: &mut dyn Paint) -> Result<Summary, CommandError> {
        match format {
            Format::Json => write_json(output, self)?,
            Format::Text => self.write_text(output)?,
        }
        Ok(Summary::of(self.errors.is_empty()))
    }

    fn write_text(&self, output: &mut dyn Paint) -> io::Result<()> {
        if let Some(server) = &self.server {
            let name = format!("{} {}", one_line(&server.name), one_line(&server.version));
            output.paint(HEADING, &name)?;
            writeln!(output)?;
        }
        let revision = self.revision.map_or("", Revision::as_str);
        write_table(
            &mut *output,
            &[
                ["era".to_owned(), self.era.to_owned()],
                ["revision".to_owned(), revision.to_owned()],
                ["capabilities".to_owned(), capabilities(&self.capabilities)],
            ],
            |_, _| NONE,
        )?;
        if let Some(instructions) = &self.instructions {
            write_heading(&mut *output, "Instructions")?;
            writeln!(output, "{}", plain(instructions.trim_end()))?;
        }
        write_section(output, "Tools", &self.tools, |it| {
            let about = match view(it) {
                Some(view) => format!("{} (view {})", about(&it.description, &it.title), one_line(&view)),
                None => about(&it.description, &it.title),
            };
            [one_line(&it.name), tool_arguments(it), about]
        })?;
        write_section(output, "Resources", &self.resources, |it| {
            let about = about(&it.description, &it.title);
            [one_line(&it.uri), one_line(&it.name), about]
        })?;
        write_section(output, "Resource templates", &self.resource_templates, |it| {
            let about = about(&it.description, &it.title);
            [one_line(&it.uri_template), one_line(&it.name), about]
        })?;
        write_section(output, "Prompts", &self.prompts, |it| {
            let about = about(&it.description, &it.title);
            [one_line(&it.name), prompt_arguments(it), about]
        })
    }
}

fn write_section<T>(
    output: &mut dyn Paint,
    heading: &str,
    list: &Listed<T>,
    row: impl Fn(&T) -> [String; 3],
) -> io::Result<()> {
    let rows: Vec<_> = list.items.iter().map(row).collect();
    if rows.is_empty() && list.error.is_none() {
        return Ok(());
    }
    write_heading(&mut *output, &format!("{heading} ({})", rows.len()))?;
    write_list(&mut *output, &rows)?;
    match &list.error {
        Some(error) => {
            output.write_all(b"  ")?;
            output.paint(BAD, "error:")?;
            writeln!(output, " {}", plain(&error.to_string()))
        }
        None => Ok(()),
    }
}

fn about(description: &Option<String>, title: &Option<String>) -> String {
    one_line(description.as_deref().or(title.as_deref()).unwrap_or_default())
}

/// Capabilities as words: `prompts, resources (listChanged, subscribe)`.
fn capabilities(all: &Value) -> String {
    let capability = |(name, value): (&String, &Value)| {
        let members = value.as_object().into_iter().flatten();
        let members: Vec<&str> = members
            .filter(|(_, it)| **it != false)
            .map(|(name, _)| name.as_str())
            .collect();
        match members.is_empty() {
            true => name.clone(),
            false => format!("{name} ({})", members.join(", ")),
        }
    };
    let all: Vec<String> = all.as_object().into_iter().flatten().map(capability).collect();
    plain(&all.join(", "))
}

/// The arguments of a tool with their types: `city: string, days?: integer|null`.
fn tool_arguments(tool: &Tool) -> String {
    let root: Value = tool.input_schema.parse().unwrap_or_default();
    let member = |name: &str| tool.input_schema.get(name);
    let properties = member("properties").and_then(|it| it.decode_as::<Map<RawJson>>().ok());
    let required = member("required")
        .and_then(|it| it.parse::<Vec<String>>().ok())
        .unwrap_or_default();
    let shown = properties.iter().flat_map(Map::iter).map(|(name, schema)| {
        let optional = if required.iter().any(|required| required == name) {
            ""
        } else {
            "?"
        };
        let schema: Value = schema.parse().unwrap_or_default();
        let kinds = kinds(&root, &schema).map_or_else(|| "any".to_owned(), |kinds| kinds.join("|"));
        format!("{name}{optional}: {kinds}")
    });
    one_line(&shown.collect::<Vec<_>>().join(", "))
}

/// The URI of the view that a host shows for a tool, by the extension for apps.
fn view(tool: &Tool) -> Option<String> {
    let of_tools = mcp_ext_apps::EXTENSION.meta.iter().find(|member| member.of == "Tool")?;
    let meta = tool.meta.as_ref()?.get(of_tools.member)?;
    meta.decode_as::<mcp_ext_apps::McpUiToolMeta>().ok()?.resource_uri
}

fn prompt_arguments(prompt: &Prompt) -> String {
    let arguments = prompt.arguments.iter().flatten();
    let shown = arguments.map(|it| match it.required {
        Some(true) => it.name.clone(),
        _ => format!("{}?", it.name),
    });
    one_line(&shown.collect::<Vec<_>>().join(", "))
}
