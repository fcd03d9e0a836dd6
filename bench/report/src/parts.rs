//! The parts of the page: their measuring programs, headings, explanations and charts.

use std::path::Path;

use anyhow::Result;

use crate::builds;
use crate::measured::Cell;
use crate::pairs;
use crate::programs::{run_program, target};

/// The folder of the main workspace, relative to that of the benchmarks.
const PROJECT: &str = "..";
/// The folder of the workspace with rust-mcp-schema's types of 2026-07-28.
const RUST_MCP_SCHEMA: &str = "rust-mcp-schema";

/// A part of the page, which is measured separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The time to decode messages
    Decode,
    /// The time to encode messages
    Encode,
    /// How often decoding and encoding allocate
    Allocations,
    /// The time that converting results adds to decoding them
    Hops,
    /// Calls of a tool over stdio and HTTP
    Calls,
    /// Calls by clients, each of which spawns the server
    Clients,
    /// The time that extractors add to a call
    Extraction,
    /// The memory of idle sessions
    Sessions,
    /// The cost of calls through `mcp-rev bridge` and other gateways
    Bridge,
    /// The cost of `mcp-rev gateway` and other gateways in front of two servers
    Gateways,
    /// The cost of building a server, a client, and a program with only the types
    Builds,
    /// The lines and builds of the same programs written with this project and with rmcp
    Pairs,
}

impl Part {
    pub const ALL: [Self; 12] = [
        Self::Decode,
        Self::Encode,
        Self::Allocations,
        Self::Hops,
        Self::Calls,
        Self::Clients,
        Self::Extraction,
        Self::Sessions,
        Self::Bridge,
        Self::Gateways,
        Self::Builds,
        Self::Pairs,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Allocations => "allocations",
            Self::Hops => "hops",
            Self::Calls => "calls",
            Self::Clients => "clients",
            Self::Sessions => "sessions",
            Self::Bridge => "bridge",
            Self::Gateways => "gateways",
            Self::Builds => "builds",
            Self::Extraction => "extraction",
            Self::Pairs => "pairs",
        }
    }

    /// Returns the packages of the programs that it runs, with the folders of their workspaces.
    pub fn packages(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Decode | Self::Encode | Self::Allocations => {
                &[(".", "mcp-bench"), (RUST_MCP_SCHEMA, "mcp-bench-rust-mcp-schema")]
            }
            Self::Hops | Self::Extraction => &[(".", "mcp-bench")],
            Self::Calls | Self::Sessions => &[(".", "mcp-load"), (".", "mcp-load-server"), (".", "mcp-load-rmcp")],
            Self::Clients => &[
                (".", "mcp-load"),
                (".", "mcp-load-client"),
                (".", "mcp-load-server"),
                (".", "mcp-load-rmcp"),
            ],
            Self::Bridge | Self::Gateways => &[(".", "mcp-load"), (".", "mcp-load-server"), (PROJECT, "mcp-rev")],
            Self::Builds | Self::Pairs => &[],
        }
    }

    /// Measures it once.
    pub fn run(self, bench: &Path) -> Result<Vec<Cell>> {
        let (program, arguments) = match self {
            Self::Decode => ("ratios", vec!["decode"]),
            Self::Encode => ("ratios", vec!["encode"]),
            Self::Allocations => ("allocations", vec![]),
            Self::Hops => ("hops", vec![]),
            Self::Calls => ("calls", vec!["--json", "--seconds", "1", "--turns", "3"]),
            Self::Clients => ("clients", vec!["--seconds", "1", "--turns", "3"]),
            Self::Sessions => ("sessions", vec![]),
            Self::Bridge => ("bridge", vec![]),
            Self::Gateways => ("gateways", vec![]),
            Self::Extraction => ("extraction", vec![]),
            Self::Builds => return builds::measure(bench),
            Self::Pairs => return pairs::measure(bench),
        };
        let servers = match self {
            Self::Calls => servers(bench)
                .into_iter()
                .chain([format!("floor={}", target(bench, ".").join("floor").display())])
                .collect(),
            Self::Clients => clients(bench),
            Self::Sessions => servers(bench),
            Self::Bridge => bridges(bench),
            Self::Gateways => gateways(bench),
            _ => vec![],
        };
        let mut cells = run_program(bench, ".", program, &arguments, &servers)?;
        if let Some(program) = self.of_rust_mcp_schema() {
            let own = run_program(bench, RUST_MCP_SCHEMA, program, &arguments, &[])?;
            // The table already has a column `value`.
            cells.extend(own.into_iter().filter(|cell| cell.column != "value"));
        }
        Ok(cells)
    }

    /// Returns the program that measures the same with rust-mcp-schema's types of 2026-07-28.
    fn of_rust_mcp_schema(self) -> Option<&'static str> {
        match self {
            Self::Decode | Self::Encode => Some("schema-ratios"),
            Self::Allocations => Some("schema-allocations"),
            _ => None,
        }
    }

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Decode => "Decoding",
            Self::Encode => "Encoding",
            Self::Allocations => "Allocations",
            Self::Hops => "Converting",
            Self::Calls => "Calls",
            Self::Clients => "Calls by clients",
            Self::Sessions => "Idle sessions",
            Self::Bridge => "The bridge",
            Self::Gateways => "The gateway",
            Self::Builds => "Building",
            Self::Extraction => "Extractors",
            Self::Pairs => "The same programs",
        }
    }

    /// Returns the text about what is measured, and how.
    pub fn about(self) -> &'static str {
        match self {
            Self::Decode => include_str!("about/decode.md"),
            Self::Encode => include_str!("about/encode.md"),
            Self::Allocations => include_str!("about/allocations.md"),
            Self::Hops => include_str!("about/hops.md"),
            Self::Calls => include_str!("about/calls.md"),
            Self::Clients => include_str!("about/clients.md"),
            Self::Sessions => include_str!("about/sessions.md"),
            Self::Bridge => include_str!("about/bridge.md"),
            Self::Gateways => include_str!("about/gateways.md"),
            Self::Builds => include_str!("about/builds.md"),
            Self::Extraction => include_str!("about/extraction.md"),
            Self::Pairs => include_str!("about/pairs.md"),
        }
    }

    /// Returns the tables that have a chart.
    pub fn charts(self) -> &'static [&'static str] {
        match self {
            Self::Decode => &["decode"],
            Self::Encode => &["encode"],
            Self::Allocations | Self::Extraction => &[],
            Self::Hops => &["hops"],
            Self::Calls => &["calls a second", "CPU time a call, µs"],
            Self::Clients => &["CPU time of a client a call, µs"],
            Self::Sessions => &["memory of a session, KB"],
            Self::Bridge => &["CPU time a call, µs"],
            Self::Gateways => &["CPU time a request, µs"],
            Self::Builds => &["CPU time of a release build, s"],
            Self::Pairs => &["lines"],
        }
    }
}

/// Returns the servers that are called, each as the name of its column and a command.
fn servers(bench: &Path) -> Vec<String> {
    let target = target(bench, ".");
    let (ours, rmcp) = (target.join("mcp-load-server"), target.join("mcp-load-rmcp"));
    let mut servers = vec![
        format!("ours={}", ours.display()),
        format!("rmcp={}", rmcp.display()),
        format!("rmcp, nodelay={} --nodelay", rmcp.display()),
    ];
    servers.extend(of_typescript(bench, "server.mjs"));
    servers
}

/// Returns the arguments of the program `clients`: the server, and the clients like [`servers`].
fn clients(bench: &Path) -> Vec<String> {
    let target = target(bench, ".");
    let (ours, rmcp) = (target.join("mcp-load-client"), target.join("mcp-load-rmcp-client"));
    let mut arguments = vec![
        target.join("mcp-load-server").display().to_string(),
        format!("ours={}", ours.display()),
        format!("rmcp={}", rmcp.display()),
    ];
    arguments.extend(of_typescript(bench, "client.mjs"));
    arguments.push(format!("floor={}", target.join("client-floor").display()));
    arguments
}

/// Returns a program of the TypeScript SDK, if that is installed.
fn of_typescript(bench: &Path, program: &str) -> Option<String> {
    let typescript = bench.join("load/typescript");
    let command = || format!("TypeScript SDK=node {}", typescript.join(program).display());
    typescript.join("node_modules").exists().then(command)
}

/// Returns the arguments of the program `bridge`: the bridge, the server, and the installed gateways of others.
fn bridges(bench: &Path) -> Vec<String> {
    let (bridge, server) = (
        target(bench, PROJECT).join("mcp-rev"),
        target(bench, ".").join("mcp-load-server"),
    );
    let mut arguments = vec![bridge.display().to_string(), server.display().to_string()];
    let gateways = bench.join("load/gateways");
    let others = [
        (
            "supergateway=node ",
            "node_modules/supergateway/dist/index.js",
            "--outputTransport streamableHttp --stateful --logLevel none --port {port} --stdio {server}",
        ),
        (
            "mcp-proxy=",
            "mcp-proxy/venv/bin/mcp-proxy",
            "--log-level ERROR --port {port} -- {program} stdio",
        ),
    ];
    for (name, program, options) in others {
        let program = gateways.join(program);
        if program.exists() {
            arguments.push(format!("--gateway={name}{} {options}", program.display()));
        }
    }
    arguments
}

/// Returns the arguments of the program `gateways`: the server and the gateways, which are ours, and FastMCP in two
/// ways if it is installed.
fn gateways(bench: &Path) -> Vec<String> {
    let ours = target(bench, PROJECT).join("mcp-rev");
    let mut arguments = vec![
        target(bench, ".").join("mcp-load-server").display().to_string(),
        format!(
            "mcp-rev gateway={} gateway {{file}} --listen http://127.0.0.1:{{port}}/mcp",
            ours.display()
        ),
    ];
    let fastmcp = bench.join("load/gateways/fastmcp");
    if fastmcp.join("venv").exists() {
        let fastmcp = fastmcp.display();
        arguments.push(format!(
            "FastMCP={fastmcp}/venv/bin/fastmcp run {{file}} --transport http --port {{port}} --no-banner --log-level ERROR"
        ));
        arguments.push(format!(
            "FastMCP, connected={fastmcp}/venv/bin/python {fastmcp}/connected.py {{file}} {{port}}"
        ));
    }
    arguments
}
