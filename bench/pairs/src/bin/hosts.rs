//! A client with `mcp-runtime` of the servers in a configuration file: it lists the tools of each, and calls one by the
//! name `server/tool`.

use std::error::Error;

use futures_util::future::join_all;
use mcp_runtime::Client;
use mcp_runtime::clients::Clients;
use serde_json::{Value, to_string};

async fn list(clients: &Clients) {
    let lists = clients
        .servers()
        .map(async |(name, client)| (name, client.list_tools().await));
    for (name, tools) in join_all(lists).await {
        match tools {
            Ok(tools) => tools.iter().for_each(|tool| println!("{name}/{}", tool.name)),
            Err(error) => println!("{name} failed: {error}"),
        }
    }
}

async fn call(clients: &Clients, name: &str, arguments: Value) -> Result<(), Box<dyn Error>> {
    let (server, tool) = name.split_once('/').ok_or("a tool is named as `server/tool`")?;
    let client = clients.server(server).ok_or("there is no such server")?;
    let result = client.call_tool(tool, arguments).await?;
    println!("{}", to_string(&result.content)?);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file of servers")?;
    let clients = Clients::from_file(file, Client::new("host", "1.0"))?;
    list(&clients).await;
    if let Some(tool) = arguments.next() {
        let arguments = arguments.next().unwrap_or_else(|| "{}".to_owned());
        call(&clients, &tool, serde_json::from_str(&arguments)?).await?;
    }
    clients.close().await;
    Ok(())
}
