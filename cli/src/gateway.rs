//! `mcp-rev gateway`

use mcp_runtime::clients::ServerConfig;
use mcp_runtime::gateway::{CallReport, Gateway};
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::transport::stdio::stdio;

use crate::args::{GatewayArgs, Listen};
use crate::bridge::{identify_users, interrupted, log, serve_http};
use crate::client::{block_on, missing_server, servers_of, without_servers};
use crate::error::{CommandError, Summary};
use crate::text::one_line;

/// Serves clients until the only one ends its session, or until an interrupt.
pub fn gateway(args: &GatewayArgs) -> Result<Summary, CommandError> {
    log(args.verbose);
    block_on(async {
        let gateway = gateway_of(args)?;
        let served = serve(args, &gateway).await;
        gateway.close().await;
        served.map(|()| Summary::AllSucceeded)
    })
}

/// Makes the gateway to the servers of the file.
fn gateway_of(args: &GatewayArgs) -> Result<Gateway, CommandError> {
    let mut file = servers_of(&args.file)?;
    let is_wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    file.invalid.retain(|name, _| is_wanted(name));
    let disabled = std::mem::take(&mut file.disabled);
    let mut servers = file.all().map_err(|reason| CommandError::file(&args.file, reason))?;
    if let Some(name) = args.only.iter().find(|name| !servers.contains_key(name)) {
        let known = servers.keys().map(str::to_owned).collect();
        return Err(missing_server(&args.file, name.clone(), &disabled, known));
    }
    if servers.is_empty() {
        return Err(CommandError::file(&args.file, without_servers(&disabled)));
    }
    servers.retain(|name, _| is_wanted(name));
    let mut gateway = Gateway::new("mcp-rev", env!("CARGO_PKG_VERSION")).time_limit(args.timeout);
    if args.flat {
        gateway = gateway.flat();
    }
    if args.prefix_uris {
        gateway = gateway.prefix_uris();
    }
    if args.drop_undeclared {
        gateway = gateway.drop_undeclared();
    }
    for (name, mut server) in servers {
        match &mut server {
            ServerConfig::Process(process) => process.options = args.limit.of_process(process.options.clone()),
            ServerConfig::Http(http) => http.options = args.limit.of_http(http.options.clone()),
        }
        let added = gateway.try_server(name, server);
        gateway = added.map_err(|error| CommandError::file(&args.file, error))?;
    }
    Ok(gateway.observe(report))
}

/// Logs a call.
fn report(call: &CallReport<'_>) {
    let target = call
        .target
        .map_or_else(String::new, |target| format!(" {}", one_line(target)));
    let (server, method, elapsed, outcome) = (call.server, call.method, call.elapsed, call.outcome);
    tracing::debug!("{server}: {method}{target} {outcome:?} in {elapsed:.1?}");
}

async fn serve(args: &GatewayArgs, gateway: &Gateway) -> Result<(), CommandError> {
    match &args.listen {
        Listen::Stdio => {
            let session = gateway.serve(stdio()?);
            tokio::select! {
                () = session.ended() => {}
                interrupted = interrupted() => interrupted?,
            }
            Ok(())
        }
        Listen::Http { socket, host, path } => {
            let gateway = gateway.clone();
            let start = move |transport, info| drop(gateway.serve_for(&info, transport));
            let server = HttpServer::from_fn(start).path(path).allow_host(host);
            let server = identify_users(server, args.principal_header.as_ref(), args.one_user);
            serve_http(socket, server, 1024, |app| app).await
        }
    }
}
