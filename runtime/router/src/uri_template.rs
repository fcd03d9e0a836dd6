//! Matching URIs against URI templates.

use std::collections::BTreeMap;

use mcp_adapters::mcp_wire::json_schema::pointer::percent_decode;
use regex_lite::Regex;

/// The values of a template's variables in a URI, decoded.
pub(super) type Variables = BTreeMap<String, String>;

/// A URI template of RFC 6570, level 2, as a regular expression with a group for each variable.
#[derive(Debug, Clone)]
pub(super) struct UriTemplate {
    names: Vec<String>,
    regex: Regex,
}

/// A character that a simple variable expands to.
const UNRESERVED: &str = "[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}";
/// A character that a variable with an operator expands to.
const RESERVED: &str = r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}";

impl UriTemplate {
    /// Parses a template. The error describes why it can't be used for matching.
    pub(super) fn parse(template: &str) -> Result<Self, String> {
        let mut names = Vec::new();
        let mut pattern = String::from("^");
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            let (expression, after) = after
                .split_once('}')
                .ok_or_else(|| format!("`{{{after}` isn't closed"))?;
            pattern += &literal_pattern(literal)?;
            let (name, variable) = match expression.split_at_checked(1) {
                Some(("+", name)) => (name, format!("((?:{RESERVED})*)")),
                Some(("#", name)) => (name, format!("(?:#((?:{RESERVED})*))?")),
                _ => (expression, format!("((?:{UNRESERVED})*)")),
            };
            if name.is_empty() || !name.chars().all(is_of_name) {
                return Err(format!(
                    "`{name}` isn't a name of a variable; operators other than `+` and `#`, lists and modifiers can't be matched"
                ));
            }
            names.push(name.to_owned());
            pattern += &variable;
            rest = after;
        }
        pattern += &literal_pattern(rest)?;
        pattern.push('$');
        let regex = Regex::new(&pattern).map_err(|error| error.to_string())?;
        Ok(Self { names, regex })
    }

    /// The names of the variables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The values of the variables in a URI, decoded; `None` if the URI doesn't match, or a value isn't UTF-8. A
    /// fragment that the URI doesn't have has no value.
    pub(super) fn variables(&self, uri: &str) -> Option<Variables> {
        let captures = self.regex.captures(uri)?;
        let mut variables = Variables::new();
        for (name, group) in self.names.iter().zip(captures.iter().skip(1)) {
            if let Some(value) = group {
                variables.insert(name.clone(), percent_decode(value.as_str())?);
            }
        }
        Some(variables)
    }
}

/// The pattern of a literal, in which characters that URIs can't contain are percent-encoded.
fn literal_pattern(literal: &str) -> Result<String, String> {
    if literal.contains('}') {
        return Err(format!("`{literal}` has a `}}` without a `{{`"));
    }
    let mut expanded = String::new();
    for c in literal.chars() {
        if c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c) {
            expanded.push(c);
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                expanded += &format!("%{byte:02X}");
            }
        }
    }
    Ok(regex_lite::escape(&expanded))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(template: &str, uri: &str) -> Option<Variables> {
        UriTemplate::parse(template).unwrap().variables(uri)
    }

    #[test]
    fn variables_are_decoded() {
        let found = variables("file:///{user}/{+path}", "file:///a%20b/c/d.txt").unwrap();
        assert_eq!(found["user"], "a b");
        assert_eq!(found["path"], "c/d.txt");
    }

    #[test]
    fn fragments_are_optional() {
        let found = variables("test://a{#part}", "test://a#b/c").unwrap();
        assert_eq!(found["part"], "b/c");
        assert_eq!(variables("test://a{#part}", "test://a"), Some(Variables::new()));
    }

    #[test]
    fn literals_match_percent_encoded_where_a_uri_requires_it() {
        assert!(variables("test://a.b/ü/{c}", "test://a.b/%C3%BC/").is_some());
        assert_eq!(variables("test://a.b/ü/{c}", "test://a-b/%C3%BC/"), None);
    }

    #[test]
    fn uris_of_another_form_do_not_match() {
        for uri in [
            "test://1/2/data",
            "test://1/data?x",
            "test://%ff/data",
            "test://%4/data",
            "test://ü/data",
            "test://1/data\n",
        ] {
            assert_eq!(variables("test://{id}/data", uri), None, "{uri}");
        }
    }

    #[test]
    fn templates_that_cannot_be_matched_are_refused() {
        for template in [
            "test://{?query}",
            "test://{a,b}",
            "test://{a*}",
            "test://{a:3}",
            "test://{}",
            "test://{+}",
            "test://{ü}",
            "test://{a",
            "test://a}",
        ] {
            let refused = UriTemplate::parse(template);
            assert!(refused.is_err(), "{refused:?}");
        }
    }
}
