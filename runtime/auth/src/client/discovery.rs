//! Finding the authorization server of a client: the metadata of the resource, and of its authorization server.

use reqwest::Url;

use crate::discovery::{MetadataLocation, server_metadata, server_root, well_known};
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::metadata::{ResourceMetadata, S256, ServerMetadata};

/// The authorization server and the resource for which a client is authorized.
#[derive(Debug, Clone)]
pub struct Target {
    /// The issuer that identifies the authorization server.
    pub issuer: String,
    /// Its metadata.
    pub metadata: ServerMetadata,
    /// The resource named in its metadata; `None` for a server without such metadata.
    pub resource: Option<String>,
    /// The scopes for the basic functions.
    pub scopes: Option<Vec<String>>,
    /// Whether the server only accepts tokens that are bound to a key.
    pub needs_dpop: bool,
}

/// Finds the authorization server of a client.
///
/// `named` is the URL of the resource's metadata in the challenge, if any. `choose` chooses one of the authorization
/// servers, or refuses all of them: no request is sent to others.
pub async fn discover(
    fetcher: &Fetcher,
    server: &Url,
    named: Option<&str>,
    at_origin: bool,
    choose: impl Fn(&[String]) -> Result<String, AuthError>,
) -> Result<Target, AuthError> {
    let Some(resource) = resource_metadata(fetcher, server, named).await? else {
        return match at_origin {
            true => discover_at_origin(fetcher, server, choose).await,
            false => Err(AuthError::NoMetadata(server.to_string())),
        };
    };
    if !covers(&resource.resource, server) {
        return Err(AuthError::ResourceMismatch {
            server: server.to_string(),
            found: resource.resource,
        });
    }
    let issuer = choose(&resource.authorization_servers)?;
    let metadata = server_metadata(fetcher, &issuer).await?;
    Ok(Target {
        issuer: metadata.issuer.clone(),
        metadata,
        resource: Some(resource.resource),
        scopes: resource.scopes_supported,
        needs_dpop: resource.dpop_bound_access_tokens_required == Some(true),
    })
}

/// Fetches the metadata of the resource from the URL in the challenge, or from the well-known URLs.
async fn resource_metadata(
    fetcher: &Fetcher,
    server: &Url,
    named: Option<&str>,
) -> Result<Option<ResourceMetadata>, AuthError> {
    if let Some(url) = named {
        return match fetcher.get(url).await? {
            Some(answer) => answer.json().map(Some),
            None => Err(AuthError::NoMetadata(url.to_owned())),
        };
    }
    let mut places = vec![well_known(
        server,
        "oauth-protected-resource",
        MetadataLocation::Inserted,
    )];
    if server.path() != "/" {
        places.push(server_root(server, "/.well-known/oauth-protected-resource"));
    }
    for place in places {
        if let Some(answer) = fetcher.get(place.as_str()).await?
            && let Some(metadata) = answer.metadata("resource")?
        {
            return Ok(Some(metadata));
        }
    }
    Ok(None)
}

/// Finds the authorization server at the origin of a server without resource metadata. It may lack metadata too.
async fn discover_at_origin(
    fetcher: &Fetcher,
    server: &Url,
    choose: impl Fn(&[String]) -> Result<String, AuthError>,
) -> Result<Target, AuthError> {
    let origin = server.origin().ascii_serialization();
    let place = server_root(server, "/.well-known/oauth-authorization-server");
    let answer = fetcher.get(place.as_str()).await?;
    let metadata = answer.map(|answer| answer.metadata::<ServerMetadata>("issuer"));
    let metadata = match metadata.transpose()?.flatten() {
        Some(metadata) if metadata.issuer.strip_suffix('/').unwrap_or(&metadata.issuer) == origin => metadata,
        Some(metadata) => {
            return Err(AuthError::IssuerMismatch {
                expected: origin,
                found: metadata.issuer,
            });
        }
        None => ServerMetadata {
            authorization_endpoint: Some(server_root(server, "/authorize").into()),
            token_endpoint: Some(server_root(server, "/token").into()),
            registration_endpoint: Some(server_root(server, "/register").into()),
            code_challenge_methods_supported: Some(vec![S256.to_owned()]),
            issuer: origin,
            ..ServerMetadata::default()
        },
    };
    Ok(Target {
        issuer: choose(std::slice::from_ref(&metadata.issuer))?,
        metadata,
        resource: None,
        scopes: None,
        needs_dpop: false,
    })
}

/// Whether a resource is the server itself, or a parent of its path.
fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else {
        return false;
    };
    let path = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(path);
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && resource.query().is_none_or(|query| server.query() == Some(query))
        && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_cover_urls_below_their_path() {
        let server = Url::parse("https://mcp.example/tools/mcp").unwrap();
        for resource in [
            "https://mcp.example",
            "https://MCP.example:443/tools/",
            "https://mcp.example/tools/mcp",
        ] {
            assert!(covers(resource, &server), "{resource}");
        }
        for resource in [
            "https://evil.example/tools/mcp",
            "http://mcp.example/tools/mcp",
            "https://mcp.example:8443/tools/mcp",
            "https://mcp.example/tools/mc",
            "https://mcp.example/tools/mcp/other",
            "https://mcp.example/tools/mcp?tenant=1",
            "tools/mcp",
        ] {
            assert!(!covers(resource, &server), "{resource}");
        }
    }
}
