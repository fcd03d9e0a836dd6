//! The policy of the frame of a view.

use mcp_ext_apps::McpUiResourceCsp;

/// Returns the value of the header `Content-Security-Policy` that limits a view to the origins that it requests;
/// without any, it can reach none. Scripts and styles in the document itself run.
///
/// Values that aren't origins, such as a keyword or a second directive, are left out.
///
/// ```
/// use mcp_runtime::apps::content_security_policy;
/// use mcp_runtime::apps::mcp_ext_apps::McpUiResourceCsp;
///
/// let asked = McpUiResourceCsp::default()
///     .with_connect_domains(vec!["https://api.example.com".to_owned(), "https:; script-src *".to_owned()]);
/// let policy = content_security_policy(Some(&asked));
/// assert!(policy.contains("connect-src https://api.example.com;"));
/// assert!(!policy.contains("script-src *"));
/// assert!(content_security_policy(None).contains("connect-src 'none';"));
/// ```
///
/// <https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Content-Security-Policy>
#[must_use]
pub fn content_security_policy(asked: Option<&McpUiResourceCsp>) -> String {
    let none = McpUiResourceCsp::default();
    let asked = asked.unwrap_or(&none);
    let resources = sources(asked.resource_domains.as_deref());
    let or_none = |origins: Option<&[String]>| match sources(origins) {
        sources if sources.is_empty() => " 'none'".to_owned(),
        sources => sources,
    };
    let (connect, frames) = (
        or_none(asked.connect_domains.as_deref()),
        or_none(asked.frame_domains.as_deref()),
    );
    let base = or_none(asked.base_uri_domains.as_deref());
    format!(
        "default-src 'none'; script-src 'unsafe-inline'{resources}; style-src 'unsafe-inline'{resources}; img-src data:{resources}; \
         font-src data:{resources}; media-src data:{resources}; connect-src{connect}; frame-src{frames}; base-uri{base}; \
         object-src 'none'; form-action 'none'"
    )
}

/// Returns the origins of a directive, each after a space.
fn sources(origins: Option<&[String]>) -> String {
    let origins = origins.unwrap_or_default().iter().filter(|origin| is_origin(origin));
    origins.map(|origin| format!(" {origin}")).collect()
}

/// Whether a text is a scheme and a host, such as `https://*.example.com:8443`.
fn is_origin(text: &str) -> bool {
    let Some((scheme, host)) = text.split_once("://") else {
        return false;
    };
    let is_host = |character: char| character.is_ascii_alphanumeric() || ".-*:[]".contains(character);
    ["https", "http", "wss", "ws"].contains(&scheme) && !host.is_empty() && host.chars().all(is_host)
}
