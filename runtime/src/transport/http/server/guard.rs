//! Which requests are listened to at all.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mcp_adapters::Revision;

use super::Server;
use super::config::HttpServer;
use super::refusal::Refusal;

/// The header with the revision.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// Where a browser says how the page that asks is related to what it asks for.
const SITE: &str = "sec-fetch-site";
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Refuses what comes from elsewhere.
pub(super) async fn guard(State(server): State<Server>, request: Request, next: Next) -> Response {
    match check_source(request.headers(), request.uri(), &server.config) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn check_source(headers: &HeaderMap, uri: &Uri, config: &HttpServer) -> Result<(), Refusal> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origins_allowed = match headers.get(SITE) {
        // A page of another origin asks for something without saying which one it is: for an image, or without CORS.
        Some(site) if !headers.contains_key(header::ORIGIN) => site == "same-origin" || site == "none",
        _ => origins.all(|origin| is_origin_allowed(origin, config)),
    };
    if !origins_allowed {
        return Err(Refusal::invalid(StatusCode::FORBIDDEN, "This origin isn't allowed"));
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match hosts.next() {
        Some(host) => host.to_str().ok(),
        None => uri.authority().map(|authority| authority.as_str()),
    };
    let allowed = hosts.next().is_none() && host.is_some_and(|host| is_host_allowed(host, &config.hosts));
    match allowed {
        true => Ok(()),
        false => Err(Refusal::invalid(StatusCode::FORBIDDEN, "This host isn't allowed")),
    }
}

pub(super) fn is_origin_allowed(origin: &HeaderValue, config: &HttpServer) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let allowed = |allowed: &String| allowed == "*" || allowed.eq_ignore_ascii_case(origin);
    let host = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    config.origins.iter().any(allowed) || host.is_some_and(|host| is_host_allowed(host, &[]))
}

fn is_host_allowed(host: &str, allowed: &[String]) -> bool {
    let Some(name) = without_port(host) else {
        return false;
    };
    let allowed = allowed.iter().map(String::as_str);
    LOOPBACK
        .into_iter()
        .chain(allowed)
        .any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(host))
}

/// `None` if what follows the host isn't a port: then it isn't a host that anybody means.
fn without_port(host: &str) -> Option<&str> {
    let end_of_address = host.find(']').map_or(0, |at| at + 1);
    match host[end_of_address..].find(':') {
        None => Some(host),
        Some(colon) => {
            let (name, port) = host.split_at(end_of_address + colon);
            port[1..].parse::<u16>().is_ok().then_some(name)
        }
    }
}

/// Whether a client understands a media type.
pub(super) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let general = media_type.split('/').next().unwrap_or_default();
    media_ranges(headers).any(|range| {
        let is_general = range
            .strip_suffix("/*")
            .is_some_and(|range| range.eq_ignore_ascii_case(general));
        range == "*/*" || is_general || range.eq_ignore_ascii_case(media_type)
    })
}

/// Whether a client asks for a media type by its name. A page's tags, such as `img`, accept everything.
pub(super) fn accepts_by_name(headers: &HeaderMap, media_type: &str) -> bool {
    media_ranges(headers).any(|range| range.eq_ignore_ascii_case(media_type))
}

/// What stands in `Accept`, without what the client doesn't want.
fn media_ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next()?;
        let never = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        (!never).then_some(range)
    })
}

/// Refuses a client that understands none of the media types that the server would answer with.
pub(super) fn not_acceptable(media_types: &[&str]) -> Refusal {
    let message = format!("Not acceptable: the client must accept {}", media_types.join(" or "));
    Refusal::invalid(StatusCode::NOT_ACCEPTABLE, message)
}

/// Refuses a body that isn't said to be JSON.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    match essence.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Refusal::invalid(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Unsupported media type: Content-Type must be application/json",
        )),
    }
}

/// Which revision a request is to be read as: the one that its session has agreed upon, else the one that it names.
pub(super) fn check_revision(
    headers: &HeaderMap,
    agreed: Option<Revision>,
    supported: &[Revision],
) -> Result<Revision, Refusal> {
    if let Some(revision) = agreed.filter(|revision| !revision.facts().version_header) {
        return Ok(revision);
    }
    let Some(value) = headers.get(VERSION) else {
        return Ok(agreed.unwrap_or_else(silent_revision));
    };
    let named: Option<Revision> = value.to_str().ok().and_then(|name| name.parse().ok());
    match named.filter(|revision| supported.contains(revision)) {
        Some(named) => Ok(agreed.unwrap_or(named)),
        None => {
            let supported: Vec<&str> = supported.iter().map(|revision| revision.as_str()).collect();
            let message = format!("Unsupported protocol version; supported are {}", supported.join(", "));
            Err(Refusal::bad_request(message))
        }
    }
}

/// The revision of clients that don't name theirs: the first whose sessions are such as here, and whose requests have
/// no header for it.
fn silent_revision() -> Revision {
    let silent = Revision::ALL.into_iter().find(|revision| {
        let facts = revision.facts();
        facts.sessions && !facts.version_header
    });
    silent.unwrap_or(Revision::HUB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_in_whole() {
        let own = ["tools.example".to_owned(), "other.example:8080".to_owned()];
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:1",
            "[::1]:9",
            "[::1]",
            "tools.example:1",
            "other.example:8080",
        ] {
            assert!(is_host_allowed(host, &own), "{host}");
        }
        for host in [
            "",
            ":80",
            "localhost.evil.example",
            "evil.example",
            "localhost:80:80",
            "[::1]x",
            "other.example",
            "localhost@evil",
        ] {
            assert!(!is_host_allowed(host, &own), "{host}");
        }
    }

    #[test]
    fn an_origin_is_allowed_with_its_scheme() {
        let config = HttpServer::new().allow_origin("https://app.example");
        for origin in ["http://localhost", "https://127.0.0.1:3000", "https://app.example"] {
            assert!(
                is_origin_allowed(&HeaderValue::from_static(origin), &config),
                "{origin}"
            );
        }
        for origin in [
            "null",
            "",
            "http://app.example",
            "https://app.example.evil",
            "file://localhost",
            "http://localhost/x",
        ] {
            assert!(
                !is_origin_allowed(&HeaderValue::from_static(origin), &config),
                "{origin}"
            );
        }
    }
}
