//! Resolution of URI references according to RFC 3986, section 5.2, without normalization.

/// The parts of a URI reference without its fragment.
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Parts<'u> {
    fn of(reference: &'u str) -> Self {
        let (scheme, rest) = match reference.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, reference),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Self {
            scheme,
            authority,
            path,
            query,
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
}

/// Resolves `reference` against `base`. Neither has a fragment. A base without a scheme is accepted.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let (base, mut parts) = (Parts::of(base), Parts::of(reference));
    let mut path = remove_dot_segments(parts.path);
    if parts.scheme.is_none() {
        parts.scheme = base.scheme;
        if parts.authority.is_none() {
            parts.authority = base.authority;
            if parts.path.is_empty() {
                path = base.path.to_owned();
                parts.query = parts.query.or(base.query);
            } else if !parts.path.starts_with('/') {
                path = remove_dot_segments(&merge(&base, parts.path));
            }
        }
    }
    let mut resolved = String::new();
    let mut push = |before: &str, part: Option<&str>, after: &str| {
        if let Some(part) = part {
            resolved.extend([before, part, after]);
        }
    };
    push("", parts.scheme, ":");
    push("//", parts.authority, "");
    push("", Some(&path), "");
    push("?", parts.query, "");
    resolved
}

/// Replaces the last segment of the base's path by `path`.
fn merge(base: &Parts<'_>, path: &str) -> String {
    match base.path.rfind('/') {
        Some(slash) => format!("{}{path}", &base.path[..=slash]),
        None if base.authority.is_some() => format!("/{path}"),
        None => path.to_owned(),
    }
}

fn remove_dot_segments(path: &str) -> String {
    let is_absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("{}{}", if is_absolute { "/" } else { "" }, kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986, section 5.4, without fragments.
    #[test]
    fn references_are_resolved_as_in_rfc_3986() {
        for (reference, resolved) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"),
        ] {
            assert_eq!(resolve("http://a/b/c/d;p?q", reference), resolved, "{reference}");
        }
    }

    #[test]
    fn a_base_can_be_opaque_or_relative_or_only_an_authority() {
        assert_eq!(resolve("urn:example:a", ""), "urn:example:a");
        assert_eq!(resolve("urn:example:a", "http://b"), "http://b");
        assert_eq!(resolve("", "item.json"), "item.json");
        assert_eq!(resolve("folder/list.json", "item.json"), "folder/item.json");
        assert_eq!(resolve("http://a", "b"), "http://a/b");
    }
}
