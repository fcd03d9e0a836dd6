//! Paths to values inside a JSON value.

use std::fmt;

use crate::shortened;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Into an object, to the member of this name.
    Member(String),
    /// Into an array, to the element at this index.
    Index(usize),
}

impl Segment {
    /// Creates the step to the member `name`, which is shortened if it is long, so that errors stay small.
    #[must_use]
    pub fn shortened(name: &str) -> Self {
        Self::Member(shortened(name).into_owned())
    }
}

/// The path from the root of a JSON value to a value inside it.
///
/// Displays as `params.messages[2].content`; a name that isn't made of letters, digits, `_`, `$` and `-` is quoted, as
/// in `params["odd name"]`, and the root is `(root)`.
///
/// ```
/// use mcp_json_schema::path::Path;
///
/// let mut path = Path::default();
/// assert_eq!(path.to_string(), "(root)");
/// path.push_member("messages");
/// path.push_index(2);
/// path.push_member("odd name");
/// assert_eq!(path.to_string(), r#"messages[2]["odd name"]"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path(Vec<Segment>);

impl Path {
    /// Creates a path from its segments, the innermost first. Errors collect them in this order.
    #[must_use]
    pub fn from_reversed(mut segments: Vec<Segment>) -> Self {
        segments.reverse();
        Self(segments)
    }

    /// Appends the member `name`.
    pub fn push_member(&mut self, name: impl Into<String>) {
        self.0.push(Segment::Member(name.into()));
    }

    /// Appends the element at `index`.
    pub fn push_index(&mut self, index: usize) {
        self.0.push(Segment::Index(index));
    }

    /// Removes the last segment; `None` at the root.
    pub fn pop(&mut self) -> Option<Segment> {
        self.0.pop()
    }

    /// Returns the segments, the outermost first.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the path to the root itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str("(root)");
        }
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Member(name) if is_plain(name) => {
                    let dot = if at == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                Segment::Member(name) => write!(f, "[{}]", serde_json::Value::from(name.as_str()))?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    !name.is_empty() && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_displayed_like_an_expression_that_accesses_the_value() {
        let mut path = Path::default();
        path.push_member("params");
        path.push_member("messages");
        path.push_index(2);
        path.push_member("$content-type");
        assert_eq!(path.to_string(), "params.messages[2].$content-type");
    }

    #[test]
    fn names_that_could_be_misread_are_quoted() {
        for (name, shown) in [
            ("a.b", r#"["a.b"]"#),
            ("", r#"[""]"#),
            ("say \"hi\"", r#"["say \"hi\""]"#),
            ("é", r#"["é"]"#),
        ] {
            let mut path = Path::default();
            path.push_member(name);
            assert_eq!(path.to_string(), shown);
        }
    }

    #[test]
    fn from_reversed_restores_the_order_of_the_segments() {
        let segments = vec![Segment::Index(1), Segment::Member("items".to_owned())];
        let mut path = Path::from_reversed(segments);
        assert_eq!(path.to_string(), "items[1]");
        assert_eq!(path.pop(), Some(Segment::Index(1)));
        assert_eq!(path.segments(), [Segment::Member("items".to_owned())]);
        path.pop();
        assert!(path.is_root());
        assert_eq!(path.to_string(), "(root)");
    }
}
