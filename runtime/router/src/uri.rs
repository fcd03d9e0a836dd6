//! Validation of URIs.

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
    let host_end = rest
        .strip_prefix("//")
        .map_or(0, |host| host.find(['/', '?', '#']).map_or(rest.len(), |end| end + 2));
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
            ("file:///a#b#c", "'#' can't be there; write it as %23"),
            ("file:///{id}", "'{' can't be there; write it as %7B"),
            ("file:///a\n", r"'\n' can't be there; write it as %0A"),
        ] {
            let fault = fault(uri).unwrap_or_default();
            assert!(fault.starts_with(expected), "{uri:?}: {fault}");
        }
    }
}
