//! The check of a request's origin and host.

use http::{HeaderMap, StatusCode, Uri, header};

use super::super::origin::{is_host_allowed, is_origin_allowed};
use super::super::rejection::Rejection;
use super::super::settings::Settings;

/// The header in which a browser reports how the page is related to the server.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Refuses requests from other origins, or to other hosts, than the allowed ones.
pub(super) fn check_source(headers: &HeaderMap, uri: &Uri, settings: &Settings) -> Result<(), Rejection> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let origins_allowed = match headers.get(SEC_FETCH_SITE) {
        // A cross-site request without an origin, such as for an image or without CORS.
        Some(site) if !headers.contains_key(header::ORIGIN) => site == "same-origin" || site == "none",
        _ => origins.all(|origin| is_origin_allowed(origin, &settings.origins)),
    };
    if !origins_allowed {
        return Err(Rejection::invalid(StatusCode::FORBIDDEN, "This origin isn't allowed"));
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let header = hosts.next().map(|host| host.to_str().unwrap_or_default());
    // A request target in absolute form names a host too, which takes precedence over the header; both are checked.
    let target = uri.authority().map(|authority| authority.as_str());
    let is_named = hosts.next().is_none() && (header.is_some() || target.is_some());
    let mut named = header.into_iter().chain(target);
    match is_named && named.all(|host| is_host_allowed(host, &settings.hosts)) {
        true => Ok(()),
        false => Err(Rejection::invalid(StatusCode::FORBIDDEN, "This host isn't allowed")),
    }
}
