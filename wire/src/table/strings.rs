//! The table of an enumeration's values.

/// Implements the traits of a JSON string with known values for an enum: `as_str`, `From` strings, `Display`,
/// [`Decode`](crate::Decode), [`Encode`](crate::Encode), `serde`'s traits and [`Validate`](crate::Validate).
///
/// The last variant is for any other string.
///
/// ```
/// use mcp_wire::{Schema, strings};
///
/// static SCHEMA: Schema = Schema::new("2099-01-01", r#"{"$defs": {"Role": {"enum": ["assistant", "user"]}}}"#);
///
/// #[derive(Debug, Clone, PartialEq, Eq, Hash)]
/// pub enum Role {
///     Assistant,
///     User,
///     Unknown(String),
/// }
///
/// strings! {
///     Role: SCHEMA["#/$defs/Role"]
///     "assistant" => Assistant,
///     "user" => User,
///     _ => Unknown,
/// }
///
/// assert_eq!(Role::from("user"), Role::User);
/// assert_eq!(Role::from("system").as_str(), "system");
/// ```
#[macro_export]
macro_rules! strings {
    ($type:ident: $schema:ident[$pointer:literal] $($value:literal => $variant:ident,)* _ => $unknown:ident,) => {
        impl $type {
            /// Returns the value as it is written in JSON.
            #[must_use]
            #[inline]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $value,)*
                    Self::$unknown(value) => value,
                }
            }
        }

        impl ::std::convert::From<&str> for $type {
            #[inline]
            fn from(value: &str) -> Self {
                match value {
                    $($value => Self::$variant,)*
                    other => Self::$unknown(other.to_owned()),
                }
            }
        }

        impl ::std::convert::From<::std::string::String> for $type {
            #[inline]
            fn from(value: ::std::string::String) -> Self {
                Self::from(value.as_str())
            }
        }

        impl ::std::fmt::Display for $type {
            #[inline]
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::Decode for $type {
            #[inline]
            fn decode(reader: &mut $crate::Reader<'_>) -> $crate::Decoded<Self> {
                reader.string().map(|value| Self::from(&*value))
            }
        }

        impl $crate::Encode for $type {
            #[inline]
            fn encode(&self, json: &mut $crate::JsonWriter) {
                json.string(self.as_str());
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::deserialize_by_decoding!($type);
        $crate::defined_at!($type, $schema, $pointer);
    };
}
