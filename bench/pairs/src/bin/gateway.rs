//! A gateway with `mcp-runtime`: one server in front of those on the command line, as `name=program`.

use mcp_runtime::clients::ServerConfig;
use mcp_runtime::gateway::Gateway;
use mcp_runtime::transport::stdio::stdio;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut gateway = Gateway::new("gateway", "1.0");
    for argument in std::env::args().skip(1) {
        let (name, program) = argument.split_once('=').ok_or("a server is named as `name=program`")?;
        gateway = gateway.try_server(name, ServerConfig::process(program))?;
    }
    gateway.serve(stdio()?).ended().await;
    Ok(())
}
