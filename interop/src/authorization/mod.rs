//! Our client with a real authorization server, at one of our servers and at one of the TypeScript SDK.

mod bound;
mod browser;
mod client;
mod ours;
mod steps;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;
use crate::packages::Packages;
use crate::paths;
use crate::process::{Running, leading, progress};

/// Runs all steps, and returns whether they have succeeded.
pub async fn run() -> Result<bool, Error> {
    let packages = Packages {
        installed: paths::install_directory().join("authorization"),
        described: paths::in_workspace("interop/authorization"),
    };
    packages
        .install(|what| progress(&format!("authorization: {what}")))
        .await?;
    let (provider, issuer) = start(&packages, "provider.mjs", &[]).await?;
    let (sdk, theirs) = start(&packages, "server.mjs", &[&issuer]).await?;
    let ours = ours::start(&issuer).await.map_err(Error::io(Path::new("127.0.0.1")))?;
    let sdk_version = packages.npm_version("@modelcontextprotocol/sdk")?;
    let provider_version = packages.npm_version("oidc-provider")?;

    let mut table =
        format!("| with oidc-provider {provider_version} | ours | TypeScript SDK {sdk_version} |\n|---|---|---|\n");
    let mut all_succeeded = true;
    for step in steps::STEPS {
        progress(&format!("authorization: {}", step.name));
        let mut cells = Vec::new();
        for (url, other) in [(&ours.url, &theirs), (&theirs, &ours.url)] {
            if step.needs_ours && *url != ours.url {
                cells.push("–".to_owned());
                continue;
            }
            let done = (step.run)(client::Servers {
                url,
                other,
                issuer: &issuer,
                ours: &ours,
            })
            .await;
            all_succeeded &= done.is_ok();
            cells.push(match done {
                Ok(()) => "ok".to_owned(),
                Err(error) => format!("failed: {error}"),
            });
        }
        table += &format!("| {} | {} |\n", step.name, cells.join(" | "));
    }
    let _ = io::stdout().write_all(table.as_bytes());
    for program in [sdk, provider] {
        program.end().await.map_err(Error::io(Path::new("node")))?;
    }
    Ok(all_succeeded)
}

/// Starts a script next to the packages that it imports, and returns it with the URL that it prints.
async fn start(packages: &Packages, script: &str, arguments: &[&str]) -> Result<(Running, String), Error> {
    let installed = packages.installed.join(script);
    fs::copy(packages.described.join(script), &installed).map_err(Error::io(&installed))?;
    let mut node = leading(packages.node());
    node.arg(&installed).args(arguments);
    let mut running = Running::start(node, &packages.installed.join(format!("{script}.stderr")))?;
    loop {
        let line = running.line().await.map_err(Error::io(&installed))?;
        let line = line.ok_or_else(|| Error::malformed(&installed, "it ended without naming its URL"))?;
        if line.starts_with("http://") {
            return Ok((running, line));
        }
    }
}
