//! Prints the time of a call of a function with extractors, as a ratio to a call of a handler that receives the raw
//! parameters.

use mcp_bench::table::{self, Cell};
use mcp_bench::{Failure, turns};
use mcp_runtime::router::Call;
use mcp_runtime::transport::{ChannelTransport, channel};
use mcp_runtime::{
    Args, CallServer, ClientSession, Context, ErrorObject, Options, Router, ServerHandler, ServerSide, State, connect,
    hub, serve,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

/// A handler that receives the raw parameters, and holds its state.
struct Raw(i64);

impl ServerHandler<Context<ServerSide>> for Raw {
    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let arguments = params.arguments.unwrap_or_default();
        let sum: Sum = arguments
            .parse()
            .map_err(|error| ErrorObject::new(-32602, error.to_string()))?;
        let text = text(&sum, self.0, context);
        Ok(hub::CallToolResult::new(vec![hub::TextContent::new(text).into()]).into())
    }
}

fn text(sum: &Sum, more: i64, context: &Context<ServerSide>) -> String {
    let revision = context.revision().map_or("none", |revision| revision.as_str());
    format!("{} in {revision}", sum.a + sum.b + more)
}

/// Connects to a server in the same process.
fn session(runtime: &Runtime, serve: impl FnOnce(ChannelTransport)) -> Result<ClientSession, Failure> {
    let (ours, theirs) = channel(16);
    let _entered = runtime.enter();
    serve(theirs);
    let info = hub::Implementation::new("bench", "1.0");
    let capabilities = hub::ClientCapabilities::default();
    Ok(runtime.block_on(connect((), info, capabilities, Options::default(), ours))?)
}

fn main() -> Result<(), Failure> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let info = hub::Implementation::new("bench", "1.0");
    let tools = hub::ServerCapabilities::default().with_tools(hub::ServerCapabilitiesTools::default());
    let raw = session(&runtime, |transport| {
        drop(serve(Raw(1), info, tools, None, Options::default(), transport));
    })?;
    let router = Router::new("bench", "1.0").with_state(1_i64).tool(
        "sum",
        "Adds",
        |State(more): State<i64>, Args(sum): Args<Sum>, call: Call| text(&sum, more, &call),
    );
    let extracting = session(&runtime, |transport| drop(router.serve(Options::default(), transport)))?;

    let call = |session: &ClientSession| {
        let params = hub::CallToolRequestParams::new("sum").with_arguments(json!({"a": 19, "b": 22}));
        runtime.block_on(session.peer().call_tool(params))
    };
    // Both return the same content.
    assert_eq!(call(&raw)?.content, call(&extracting)?.content);
    let ratios = turns::ratios(&[&|| drop(call(&raw)), &|| drop(call(&extracting))]);
    let cells = ["raw parameters", "State, Args and Call"].into_iter().zip(ratios);
    let cells: Vec<Cell> = cells
        .map(|(column, value)| Cell {
            table: "extraction",
            row: "a call within the process",
            column,
            value,
        })
        .collect();
    table::print(&cells)
}
