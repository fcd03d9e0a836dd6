//! Validation of URIs.

use std::net::Ipv6Addr;

/// Describes why a text isn't a URI of [RFC 3986](https://www.rfc-editor.org/rfc/rfc3986), and how to correct it;
/// `None` for a valid URI.
pub(super) fn fault(uri: &str) -> Option<String> {
    let Some((scheme, rest)) = uri.split_once(':') else {
        return Some("it has no scheme, such as `file:`".to_owned());
    };
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(is_of_scheme) {
        return Some(format!(
            "`{scheme}` isn't a scheme, which has letters, digits, `+`, `-` and `.` after a letter"
        ));
    }
    let authority = rest
        .strip_prefix("//")
        .map(|rest| &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]);
    let host_end = authority.map_or(0, |authority| authority.len() + 2);
    if let Some(host) = authority.map(|authority| authority.rsplit('@').next().unwrap_or(authority))
        && host.contains(['[', ']'])
        && !is_ip_literal(host)
    {
        return Some(format!(
            "`{host}` isn't an IPv6 address in brackets, such as `[::1]:80`"
        ));
    }
    for (at, c) in rest.char_indices() {
        let is_allowed = match c {
            '%' => {
                let digits = rest.as_bytes().get(at + 1..at + 3);
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            '[' | ']' => at < host_end,
            '#' => !rest[..at].contains('#'),
            _ => c.is_ascii_alphanumeric() || "-._~:/?@!$&'()*+,;=".contains(c),
        };
        if !is_allowed {
            let escaped: String = c
                .encode_utf8(&mut [0; 4])
                .bytes()
                .map(|byte| format!("%{byte:02X}"))
                .collect();
            return Some(format!("{c:?} can't be there; write it as {escaped}"));
        }
    }
    None
}

/// Whether the host of a URI is an IP address in brackets, with a port or without.
fn is_ip_literal(host: &str) -> bool {
    let bracketed = host.strip_prefix('[').and_then(|host| host.split_once(']'));
    bracketed.is_some_and(|(address, port)| {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        // The addresses of future versions start with `v`.
        (address.parse::<Ipv6Addr>().is_ok() || address.starts_with(['v', 'V']))
            && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_rfc_3986_have_no_fault() {
        for uri in [
            "file:///a/b.txt",
            "notes://today",
            "test:silent",
            "urn:isbn:0451450523",
            "git+ssh://user@[::1]:22/a?b=c/?d#e/?f",
            "http://[v1.a:b]",
            "file:///K%C3%A4se%20(1);v=1,2@3",
            "a:",
        ] {
            assert_eq!(fault(uri), None, "{uri}");
        }
    }

    #[test]
    fn faults_of_invalid_uris_name_the_character_and_its_escape() {
        for (uri, expected) in [
            ("notes", "it has no scheme, such as `file:`"),
            (":a", "`` isn't a scheme"),
            ("1a:b", "`1a` isn't a scheme"),
            ("my notes:b", "`my notes` isn't a scheme"),
            ("file:///a b", "' ' can't be there; write it as %20"),
            ("file:///Käse", "'ä' can't be there; write it as %C3%A4"),
            (r"C:\notes", r"'\\' can't be there; write it as %5C"),
            ("file:///100%", "'%' can't be there; write it as %25"),
            ("file:///%zz", "'%' can't be there; write it as %25"),
            ("file:///%é", "'%' can't be there; write it as %25"),
            ("file:///a[1]", "'[' can't be there; write it as %5B"),
            ("http://[::1", "`[::1` isn't an IPv6 address in brackets"),
            ("http://[a]/", "`[a]` isn't an IPv6 address in brackets"),
            ("http://[::1]a", "`[::1]a` isn't an IPv6 address in brackets"),
            ("http://u@[", "`[` isn't an IPv6 address in brackets"),
            ("file:///a#b#c", "'#' can't be there; write it as %23"),
            ("file:///{id}", "'{' can't be there; write it as %7B"),
            ("file:///a\n", r"'\n' can't be there; write it as %0A"),
        ] {
            let fault = fault(uri).unwrap_or_default();
            assert!(fault.starts_with(expected), "{uri:?}: {fault}");
        }
    }
}
