//! The check of the HTTP headers that repeat arguments of tools.

use std::sync::Arc;

use http::request::Parts;
use mcp_adapters::mcp_wire::{ErrorObject, RawObject, error_code};
use mcp_adapters::{ErrorRole, PeerTypes, Revision, hub};
use mcp_runtime_core::mirrors::{ArgumentHeader, argument_headers};
use mcp_runtime_core::{Context, ServerSide};
use serde_json::json;

/// The arguments of a tool that HTTP headers repeat, for each revision that has such headers.
#[derive(Debug, Clone, Default)]
pub(super) struct MirroredTool(Arc<[(Revision, Vec<ArgumentHeader>)]>);

impl MirroredTool {
    /// Reads them from the tool's schema. A tool with an invalid declaration of such headers has none: clients don't
    /// use it over HTTP.
    pub(super) fn of(tool: &hub::Tool) -> Self {
        let Ok(schema) = tool.input_schema.parse_value() else {
            return Self::default();
        };
        let rules = Revision::all().filter_map(|revision| Some((revision, revision.facts().mirrors.arguments?)));
        let found = rules.filter_map(|(revision, rule)| match argument_headers(&rule, &schema) {
            Ok(headers) => (!headers.is_empty()).then_some((revision, headers)),
            Err(error) => {
                tracing::warn!(tool = tool.name, %revision, error, "clients won't use this tool over HTTP");
                None
            }
        });
        Self(found.collect())
    }

    /// Refuses a call over HTTP whose headers don't repeat its arguments.
    pub(super) fn check(
        &self,
        arguments: Option<&RawObject>,
        context: &Context<ServerSide>,
    ) -> Result<(), ErrorObject> {
        let (Some(revision), Some(request)) = (context.revision(), context.extensions().get::<Parts>()) else {
            return Ok(());
        };
        let Some((_, headers)) = self.0.iter().find(|(of, _)| *of == revision) else {
            return Ok(());
        };
        let arguments = arguments.and_then(|arguments| arguments.parse_value().ok());
        let arguments = arguments.unwrap_or_else(|| json!({}));
        let checked = headers
            .iter()
            .try_for_each(|header| header.check(&request.headers, &arguments));
        checked.map_err(|why| {
            let known = revision.known_error(ErrorRole::HeaderMismatch);
            ErrorObject::new(known.map_or(error_code::INVALID_REQUEST, |known| known.code), why)
        })
    }
}
