//! The table of a union's variants.

/// Implements the traits of a union for an enum: [`Decode`](crate::Decode), [`Encode`](crate::Encode), `serde`'s
/// traits, [`Validate`](crate::Validate), and `From` for the types that only one variant has.
///
/// A variant with a type in parentheses gets `From` for it. The variants of most unions have different tags. The last
/// row then names the variant for objects with another tag, a [`RawJson`](crate::RawJson). It is also used for an
/// object that can't be decoded as the variant of its tag, if the schema accepts the object as another one:
///
/// ```
/// use mcp_wire::{Extra, RawJson, Schema, object, union};
/// # static SCHEMA: Schema = Schema::new("2099-01-01", r#"{"$defs": {"Text": {}, "Content": {}}}"#);
/// # #[derive(Debug, Clone, PartialEq)]
/// # pub struct Text { pub text: String, pub extra: Extra }
/// # object! { Text: SCHEMA["#/$defs/Text"] constant { "type" => type_: "text", } required { "text" => text: impl Into<String>, } }
///
/// #[derive(Debug, Clone, PartialEq)]
/// pub enum Content {
///     Text(Text),
///     Unknown(RawJson),
/// }
///
/// union! {
///     Content: SCHEMA["#/$defs/Content"] by "type"
///     "text" => Text(Text),
///     _ => Unknown,
/// }
///
/// let content: Content = mcp_wire::from_str(r#"{"type":"text","text":"Hello"}"#)?;
/// assert_eq!(content, Text::new("Hello").into());
/// # Ok::<(), mcp_wire::DecodeError>(())
/// ```
///
/// Any other union has an expression that decodes it. A value that can't be decoded by it, but is accepted by the
/// schema, becomes the variant that follows `else`, or the first of those after `or` that it can be decoded as:
///
/// ```
/// use mcp_wire::{JsonType, Schema, union};
/// # static SCHEMA: Schema = Schema::new("2099-01-01", r#"{"$defs": {"Token": {}}}"#);
///
/// #[derive(Debug, Clone, PartialEq)]
/// pub enum Token {
///     String(String),
///     Integer(i64),
/// }
///
/// union! {
///     Token: SCHEMA["#/$defs/Token"]
///     String(String, &str),
///     Integer(i64),
///     |reader| match reader.json_type()? {
///         JsonType::String => reader.decode().map(Self::String),
///         _ => reader.decode().map(Self::Integer),
///     }
/// }
///
/// assert_eq!(mcp_wire::from_str::<Token>("7")?, Token::from(7));
/// # Ok::<(), mcp_wire::DecodeError>(())
/// ```
#[macro_export]
macro_rules! union {
    (
        $type:ident: $schema:ident[$pointer:literal] by $tag:literal
        $($value:literal => $variant:ident $(($held:ty))?,)* _ => $unknown:ident,
    ) => {
        $crate::union! {
            $type: $schema[$pointer]
            $($variant $(($held))?,)*
            $unknown,
            |reader| match reader.peek_tag($tag)?.as_deref() {
                $(Some($value) => reader.decode().map(Self::$variant),)*
                Some(_) => reader.unknown_variant().map(Self::$unknown),
                None => Err(reader.missing($tag)),
            },
            else $unknown
        }
    };
    (@decode $reader:ident $decode:expr, $schema:ident[$pointer:literal]) => {
        $decode
    };
    (@decode $reader:ident $decode:expr, $schema:ident[$pointer:literal] else $unknown:ident) => {
        match $reader.unless_accepted(|$reader| $decode, &$schema, $pointer)? {
            Some(value) => Ok(value),
            None => $reader.unknown_variant().map(Self::$unknown),
        }
    };
    (@decode $reader:ident $decode:expr, $schema:ident[$pointer:literal] or $($variant:ident)+) => {
        match $reader.unless_accepted(|$reader| $decode, &$schema, $pointer)? {
            Some(value) => Ok(value),
            None => None
                $(.or_else(|| $reader.attempt(|reader| reader.decode().ok().map(Self::$variant))))+
                .ok_or_else(|| $reader.no_variant()),
        }
    };
    (
        $type:ident: $schema:ident[$pointer:literal]
        $($variant:ident $(($held:ty $(, $also:ty)?))?,)* |$reader:ident| $decode:expr
        $(, else $unknown:ident)? $(, or $($other:ident)+)?
    ) => {
        impl $crate::Decode for $type {
            #[inline]
            fn decode($reader: &mut $crate::Reader<'_>) -> $crate::Decoded<Self> {
                $crate::union!(@decode $reader $decode, $schema[$pointer] $(else $unknown)? $(or $($other)+)?)
            }
        }

        impl $crate::Encode for $type {
            #[inline]
            fn encode(&self, json: &mut $crate::JsonWriter) {
                match self {
                    $(Self::$variant(value) => json.value(value),)*
                }
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(value) => value.serialize(serializer),)*
                }
            }
        }

        $($(
            impl ::std::convert::From<$held> for $type {
                #[inline]
                fn from(value: $held) -> Self {
                    Self::$variant(value.into())
                }
            }
            $(impl ::std::convert::From<$also> for $type {
                #[inline]
                fn from(value: $also) -> Self {
                    Self::$variant(value.into())
                }
            })?
        )?)*

        $crate::deserialize_by_decoding!($type);
        $crate::defined_at!($type, $schema, $pointer);
    };
}
