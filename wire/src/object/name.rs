//! Names of declared members.

use crate::text::is_special;

/// The name of a declared member. [`name!`](crate::name!) makes one that is written faster than one made from a text.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    text: &'static str,
    /// The name as it is written after another member, with the comma and the colon. `None` if it isn't known, or if the
    /// name has characters that must be escaped.
    written: Option<&'static str>,
}

impl Name {
    /// Makes a name from its text, and from the text `,"…":` with the name in it.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(text: &'static str, written: &'static str) -> Self {
        let written = if is_plain(text.as_bytes()) { Some(written) } else { None };
        Self { text, written }
    }

    pub(super) fn text(self) -> &'static str {
        self.text
    }

    pub(super) fn written(self) -> Option<&'static str> {
        self.written
    }
}

impl From<&'static str> for Name {
    fn from(text: &'static str) -> Self {
        Self { text, written: None }
    }
}

/// Whether no character of a name must be escaped.
const fn is_plain(mut name: &[u8]) -> bool {
    while let [byte, rest @ ..] = name {
        if is_special(*byte) {
            return false;
        }
        name = rest;
    }
    true
}

/// Makes the [`Name`] of a literal when the program is compiled.
#[macro_export]
macro_rules! name {
    ($name:literal) => {
        const { $crate::Name::new($name, ::std::concat!(",\"", $name, "\":")) }
    };
}

#[cfg(test)]
mod tests {
    use serde::{Serialize, Serializer};

    use crate::object::{MemberWriter, Object, ObjectWriter, encode_object, serialize_object};
    use crate::{Encode, Extra, JsonWriter, from_str, to_string};

    struct Odd(Extra);

    impl Object for Odd {
        fn extra(&self) -> &Extra {
            &self.0
        }

        fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
            members.write(name!("plain é"), &1)?;
            members.write(name!("a\"b\\c\n"), &2)?;
            members.write("text", &3)?;
            members.write_constant(name!("last"), 4)
        }
    }

    impl Encode for Odd {
        fn encode(&self, json: &mut JsonWriter) {
            encode_object(self, json);
        }
    }

    impl Serialize for Odd {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serialize_object(self, serializer)
        }
    }

    #[test]
    fn names_are_escaped_and_separated_and_undeclared_members_repeat_none_of_them() {
        let (names, last) = (r#""plain é":1,"a\"b\\c\n":2,"text":3"#, r#""last":4"#);
        for (extra, expected) in [
            ("{}", format!("{{{names},{last}}}")),
            (r#"{"plain é":5,"more":6}"#, format!(r#"{{{names},{last},"more":6}}"#)),
            (r#"{"last":7}"#, format!(r#"{{{names},"last":7}}"#)),
        ] {
            let odd = Odd(from_str(extra).unwrap());
            assert_eq!(to_string(&odd).unwrap(), expected);
            assert_eq!(serde_json::to_string(&odd).unwrap(), expected);
        }
    }
}
