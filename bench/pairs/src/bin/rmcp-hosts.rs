//! A client with rmcp of the servers in a configuration file: it lists the tools of each, and calls one by the name
//! `server/tool`.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::path::PathBuf;

use futures_util::future::join_all;
use http::{HeaderName, HeaderValue};
use rmcp::model::{CallToolRequestParams, ClientCapabilities, ClientConfig, Implementation, JsonObject, Tool};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{RoleClient, ServiceExt};
use serde::Deserialize;
use tokio::process::Command;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServersFile {
    mcp_servers: BTreeMap<String, Server>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Server {
    Process {
        command: String,
        #[serde(default)]
        args: Vec<String>,
        #[serde(default)]
        env: BTreeMap<String, String>,
        cwd: Option<PathBuf>,
    },
    Http {
        url: String,
        #[serde(default)]
        headers: BTreeMap<String, String>,
    },
}

type Client = RunningService<RoleClient, ClientConfig>;

impl Server {
    async fn connect(&self) -> Result<Client, Box<dyn Error>> {
        let host = ClientConfig::new(ClientCapabilities::default(), Implementation::new("host", "1.0"));
        match self {
            Self::Process {
                command,
                args,
                env,
                cwd,
            } => {
                let mut command = Command::new(command);
                command.args(args).envs(env);
                if let Some(cwd) = cwd {
                    command.current_dir(cwd);
                }
                Ok(host.serve(TokioChildProcess::new(command)?).await?)
            }
            Self::Http { url, headers } => {
                let mut all = HashMap::<HeaderName, HeaderValue>::new();
                for (name, value) in headers {
                    all.insert(name.parse()?, value.parse()?);
                }
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(all);
                Ok(host.serve(StreamableHttpClientTransport::from_config(config)).await?)
            }
        }
    }

    async fn list(&self) -> Result<(Client, Vec<Tool>), Box<dyn Error>> {
        let client = self.connect().await?;
        let tools = client.list_all_tools().await?;
        Ok((client, tools))
    }
}

async fn call(clients: &BTreeMap<String, Client>, name: &str, arguments: JsonObject) -> Result<(), Box<dyn Error>> {
    let (server, tool) = name.split_once('/').ok_or("a tool is named as `server/tool`")?;
    let client = clients.get(server).ok_or("there is no such server")?;
    let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let result = client.call_tool(params).await?;
    println!("{}", serde_json::to_string(&result.content)?);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("name a file of servers")?;
    let file: ServersFile = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let lists = file.mcp_servers.into_iter();
    let lists = lists.map(async |(name, server)| (name, server.list().await));
    let mut clients = BTreeMap::new();
    for (name, listed) in join_all(lists).await {
        match listed {
            Ok((client, tools)) => {
                tools.iter().for_each(|tool| println!("{name}/{}", tool.name));
                clients.insert(name, client);
            }
            Err(error) => println!("{name} failed: {error}"),
        }
    }
    if let Some(tool) = arguments.next() {
        let arguments = arguments.next().unwrap_or_else(|| "{}".to_owned());
        call(&clients, &tool, serde_json::from_str(&arguments)?).await?;
    }
    for client in clients.into_values() {
        client.cancel().await?;
    }
    Ok(())
}
