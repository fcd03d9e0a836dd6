//! The check of origins and hosts.

use http::HeaderValue;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether pages of an origin are allowed: those of this machine, and of the configured origins.
pub(crate) fn is_origin_allowed(origin: &HeaderValue, allowed_origins: &[String]) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let allowed = |allowed: &String| allowed == "*" || allowed.eq_ignore_ascii_case(origin);
    let host = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    allowed_origins.iter().any(allowed) || host.is_some_and(|host| is_host_allowed(host, &[]))
}

/// Whether requests to a host are allowed: to this machine, and to the configured hosts.
pub(crate) fn is_host_allowed(host: &str, allowed: &[String]) -> bool {
    let Some(name) = without_port(host) else {
        return false;
    };
    let allowed = allowed.iter().map(String::as_str);
    LOOPBACK
        .into_iter()
        .chain(allowed)
        .any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(name) || allowed.eq_ignore_ascii_case(host))
}

/// The host without its port; `None` if something else follows it.
fn without_port(host: &str) -> Option<&str> {
    let end_of_address = host.find(']').map_or(0, |at| at + 1);
    let (_, rest) = host.split_at(end_of_address);
    let Some((_, port)) = rest.split_once(':') else {
        return Some(host);
    };
    // Parsing would also accept a sign.
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.strip_suffix(port)?.strip_suffix(':')?;
    (is_number && port.parse::<u16>().is_ok()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_allowed_only_by_their_whole_name() {
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
            "localhost:+80",
            "localhost:",
            "[::1]x",
            "other.example",
            "localhost@evil",
        ] {
            assert!(!is_host_allowed(host, &own), "{host}");
        }
    }

    #[test]
    fn origins_are_allowed_only_with_their_scheme() {
        let allowed = ["https://app.example".to_owned()];
        for origin in ["http://localhost", "https://127.0.0.1:3000", "https://app.example"] {
            assert!(
                is_origin_allowed(&HeaderValue::from_static(origin), &allowed),
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
                !is_origin_allowed(&HeaderValue::from_static(origin), &allowed),
                "{origin}"
            );
        }
    }
}
