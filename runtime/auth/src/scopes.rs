//! Sets of scopes.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum number of scopes in a set.
const MAX_SCOPES: usize = 256;

/// A set of scopes, which a token has, or which a request requires.
///
/// ```
/// use mcp_runtime::auth::Scopes;
///
/// let scopes = Scopes::from("files:read files:write");
/// assert!(scopes.includes(&Scopes::from("files:read")));
/// assert_eq!(scopes.to_string(), "files:read files:write");
/// ```
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Scopes(BTreeSet<String>);

impl Scopes {
    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of the other scopes are among these.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        self.0.is_superset(&other.0)
    }

    /// These scopes and the other ones.
    #[must_use]
    pub fn union(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().cloned());
        self
    }
}

/// The scopes in a text, separated by spaces. Invalid scopes are ignored, and so are those after the first 256.
impl From<&str> for Scopes {
    fn from(text: &str) -> Self {
        text.split(' ').collect()
    }
}

impl From<String> for Scopes {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> Self {
        scopes.to_string()
    }
}

impl<S: Into<String>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(scopes: I) -> Self {
        let scopes = scopes.into_iter().map(Into::into).filter(|scope| is_scope(scope));
        Self(scopes.take(MAX_SCOPES).collect())
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Scopes {
    fn from(scopes: [S; N]) -> Self {
        scopes.into_iter().collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{scope}")?;
        }
        Ok(())
    }
}

fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !text.is_empty() && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_limited_to_valid_characters_and_a_maximum_number() {
        assert_eq!(Scopes::from("b  a a\"x \u{e4} c\\"), Scopes::from(["a", "b"]));
        assert!(Scopes::from("").is_empty());
        let many: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        assert_eq!(Scopes::from(many.join(" ")).0.len(), MAX_SCOPES);
    }
}
