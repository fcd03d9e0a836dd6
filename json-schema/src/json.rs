//! A compact representation of a JSON value for validation.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Number, Value};

/// A JSON value that borrows its strings where it can.
///
/// A [`Value`] takes at least 600 bytes for each object that isn't empty, so that a short text could take much memory.
/// This type only takes the memory of the members.
#[derive(Debug, Clone, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Box<[Json<'a>]>),
    /// An object.
    Object(Members<'a>),
}

/// The members of an object, sorted by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Members<'a>(Box<[Member<'a>]>);

/// The name and the value of a member.
pub type Member<'a> = (Cow<'a, str>, Json<'a>);

impl<'a> Json<'a> {
    /// Returns the same value, borrowed.
    #[must_use]
    pub fn borrowed(value: &'a Value) -> Self {
        Self::of(value, &|text| Cow::Borrowed(text))
    }

    fn of<'v>(value: &'v Value, text: &impl Fn(&'v str) -> Cow<'a, str>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(string) => Self::String(text(string)),
            Value::Array(elements) => Self::Array(elements.iter().map(|element| Self::of(element, text)).collect()),
            Value::Object(members) => {
                let mut sorted = Vec::with_capacity(members.len());
                sorted.extend(members.iter().map(|(name, value)| (text(name), Self::of(value, text))));
                Self::Object(Members::sorted(sorted))
            }
        }
    }

    /// Returns the number of values in this one, including itself.
    pub(crate) fn size(&self) -> u64 {
        1 + match self {
            Self::Array(elements) => elements.iter().map(Self::size).sum(),
            Self::Object(members) => members.iter().map(|(_, value)| value.size()).sum(),
            _ => 0,
        }
    }

    /// Returns the member `name`, if this is an object that has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }
}

impl Json<'static> {
    /// Returns the same value, copied.
    pub(crate) fn owned(value: &Value) -> Self {
        Self::of(value, &|text| Cow::Owned(text.to_owned()))
    }
}

impl<'a> Members<'a> {
    /// Creates the members of an object from a list in any order.
    #[must_use]
    pub fn sorted(mut members: Vec<Member<'a>>) -> Self {
        members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Self(members.into_boxed_slice())
    }

    /// Returns a name that occurs twice.
    #[must_use]
    pub fn duplicate(&self) -> Option<&str> {
        let twice = |pair: &&[Member<'a>]| matches!(pair, [(one, _), (other, _)] if one == other);
        self.0
            .windows(2)
            .find(twice)
            .and_then(|pair| pair.first())
            .map(|(name, _)| &**name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Json<'a>> {
        let at = self.0.binary_search_by(|(other, _)| (**other).cmp(name)).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the members, sorted by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }
}

/// Writes the value as JSON.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let string = |text: &str| Value::from(text);
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::String(text) => string(text).fmt(f),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{}:{value}", string(name))?;
                }
                f.write_str("}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_written_as_serde_json_writes_it() {
        let value = json!({"b": [null, true, -1.5, "a\"\n"], "a": {}, "c": {"x": [], "y": 1}});
        assert_eq!(Json::borrowed(&value).to_string(), value.to_string());
        assert_eq!(Json::owned(&value), Json::borrowed(&value));
    }

    #[test]
    fn values_are_small_and_an_object_takes_only_the_memory_of_its_members() {
        assert!(size_of::<Json<'_>>() <= 32);
        assert!(size_of::<Member<'_>>() <= 56);
        let Json::Object(Members(members)) = Json::owned(&json!({"a": 1})) else {
            panic!("an object")
        };
        assert_eq!(size_of_val(&*members), size_of::<Member<'_>>());
    }

    #[test]
    fn members_are_found_by_name_in_any_order() {
        let names = ["b", "", "a", "é", "ab"];
        let members =
            |names: &[&'static str]| Members::sorted(names.iter().map(|name| ((*name).into(), Json::Null)).collect());
        let distinct = members(&names);
        assert!(names.iter().all(|name| distinct.contains_key(name)) && !distinct.contains_key("c"));
        assert_eq!(distinct.duplicate(), None);
        assert_eq!(members(&["b", "a", "b"]).duplicate(), Some("b"));
    }
}
