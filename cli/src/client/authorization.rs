//! HTTP options with authorization.

use std::path::PathBuf;

use mcp_runtime::auth::{Authorizer, Client, FileStore, Loopback};
use mcp_runtime::transport::http::client::HttpOptions;
use mcp_runtime::transport::http::client::reqwest::Url;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};

use crate::args::{AuthArgs, AuthMode};
use crate::error::CommandError;
use crate::text::say;

/// The HTTP options with these headers, and with the authorization of the arguments.
pub async fn http_options(headers: &[(HeaderName, HeaderValue)], auth: &AuthArgs) -> Result<HttpOptions, CommandError> {
    let headers = headers.to_vec();
    // A bridge or gateway may forward requests of this extension, which have HTTP headers.
    let options = HttpOptions::default().extension(mcp_ext_tasks::EXTENSION);
    let options = options.headers(move |all| all.extend(headers.iter().cloned()));
    Ok(match authorizer(auth).await? {
        Some(authorizer) => options.authorizer(authorizer),
        None => options,
    })
}

async fn authorizer(args: &AuthArgs) -> Result<Option<Authorizer>, CommandError> {
    let Some(mode) = args.auth else { return Ok(None) };
    let client = client(args)?;
    let authorizer = match (mode, client) {
        (AuthMode::User, client) => {
            let open = |url: &Url| say(&format!("The server wants you to log in. Open this page:\n{url}"));
            let user = match &args.redirect_uri {
                Some(uri) => Loopback::bind_to(uri, open)
                    .await
                    .map_err(|error| CommandError::Argument(format!("--redirect-uri {uri}: {error}")))?,
                None => Loopback::bind(open).await?,
            };
            let authorizer = Authorizer::interactive(user).client_name("mcp-rev");
            client.into_iter().fold(authorizer, Authorizer::client)
        }
        (AuthMode::Client, Some(client)) => Authorizer::client_credentials(client),
        (AuthMode::Client, None) => {
            return Err(CommandError::Argument(
                "--auth=client needs --client-id and --issuer".to_owned(),
            ));
        }
    };
    let file = args.tokens.clone().or_else(|| data_file("tokens.json"));
    Ok(Some(match file {
        Some(file) => authorizer.store(FileStore::new(file)),
        None => authorizer,
    }))
}

/// The registered client that the arguments name.
fn client(args: &AuthArgs) -> Result<Option<Client>, CommandError> {
    let (Some(issuer), Some(id)) = (&args.issuer, &args.client_id) else {
        return Ok(None);
    };
    let client = Client::new(issuer, id);
    let Some(file) = &args.client_secret else {
        return Ok(Some(client));
    };
    let secret = std::fs::read_to_string(file).map_err(|error| CommandError::file(file, error))?;
    Ok(Some(client.secret(secret.trim())))
}

/// The path of a file of this program in the user's data directory, if the system defines one.
pub fn data_file(name: &str) -> Option<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = || Some(variable("HOME")?.join(".local/share"));
    let directory = variable("XDG_DATA_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(home)?;
    Some(directory.join("mcp-rev").join(name))
}
