//! The challenges in responses that refuse a request: the error, and the scopes that are required.

use reqwest::header::{HeaderMap, WWW_AUTHENTICATE};

use crate::scopes::Scopes;

/// The maximum number of challenges that are read from one response.
const MAX_CHALLENGES: usize = 16;
/// The maximum bytes of a header with challenges.
const MAX_BYTES: usize = 8 * 1024;

/// A challenge for a scheme with its parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// In lower case.
    scheme: String,
    /// Their names are in lower case.
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The first challenge of a response for a scheme with tokens, or an empty one.
    pub fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        let values = values.filter_map(|value| value.to_str().ok());
        let values = values.filter(|value| value.len() <= MAX_BYTES);
        let challenges = values.flat_map(parse).take(MAX_CHALLENGES);
        let mut usable = challenges.filter(|it| matches!(it.scheme.as_str(), "bearer" | "dpop"));
        usable.next().unwrap_or_default()
    }

    /// The code of the error.
    pub fn error(&self) -> Option<&str> {
        self.parameter("error")
    }

    /// The URL of the resource's metadata.
    pub fn resource_metadata(&self) -> Option<&str> {
        self.parameter("resource_metadata")
    }

    /// The scopes that the request needs.
    pub fn scopes(&self) -> Option<Scopes> {
        let scopes = Scopes::from(self.parameter("scope")?);
        (!scopes.is_empty()).then_some(scopes)
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let parameter = parameters.find(|(its, _)| its == name);
        parameter.map(|(_, value)| value.as_str())
    }
}

/// The challenges of a header, up to the first one that can't be parsed.
fn parse(header: &str) -> Vec<Challenge> {
    let mut challenges: Vec<Challenge> = Vec::new();
    let mut rest = header;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let (name, after) = token(rest);
        if name.is_empty() {
            return challenges;
        }
        rest = after.trim_start_matches([' ', '\t']);
        let name = name.to_ascii_lowercase();
        match (rest.strip_prefix('='), challenges.last_mut()) {
            (Some(value), Some(challenge)) => {
                let Some((value, after)) = value_of(value.trim_start_matches(['=', ' ', '\t'])) else {
                    return challenges;
                };
                challenge.parameters.push((name, value));
                rest = after;
            }
            (Some(_), None) => return challenges,
            (None, _) => challenges.push(Challenge {
                scheme: name,
                parameters: Vec::new(),
            }),
        }
    }
}

fn token(text: &str) -> (&str, &str) {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/:".contains(&byte);
    let end = text.bytes().position(|byte| !is_part(byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// A token or a quoted string, and the text after it.
fn value_of(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        return Some((value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(characters.next()?),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(values: &[&'static str]) -> Challenge {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
        }
        Challenge::of(&headers)
    }

    #[test]
    fn the_challenge_for_a_token_is_found_among_others() {
        let found = challenge(&[
            "Negotiate YII=, Basic realm=\"a, \\\"b\\\"\"",
            "bearer Scope=\"files:read files:write\", error=invalid_token , resource_metadata = \"https://a.example/x?y=1,2\"",
        ]);
        assert_eq!(found.scopes(), Some(Scopes::from("files:read files:write")));
        assert_eq!(found.error(), Some("invalid_token"));
        assert_eq!(found.resource_metadata(), Some("https://a.example/x?y=1,2"));
        assert_eq!(
            challenge(&["Digest a=b, DPoP error=\"use_dpop_nonce\""]).error(),
            Some("use_dpop_nonce")
        );
    }

    #[test]
    fn malformed_challenges_have_no_error_and_no_scopes() {
        for value in [
            "",
            ",,",
            "=x",
            "Bearer error=\"cut",
            "Bearer",
            "Basic error=\"x\"",
            "Bearer scope=\"\"",
        ] {
            let found = challenge(&[value]);
            assert_eq!((found.error(), found.scopes()), (None, None), "{value}");
        }
    }
}
