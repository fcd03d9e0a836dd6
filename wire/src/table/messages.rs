//! The tables of methods and their results.

/// Implements [`Request`](crate::Request) for a struct: its method, direction, parameters and result.
///
/// There is one in the example of [`methods!`](crate::methods).
#[macro_export]
macro_rules! request {
    ($type:ident: $method:literal $direction:ident, $params:ty => $result:ty) => {
        impl $crate::Request for $type {
            const METHOD: &'static str = $method;
            const DIRECTION: $crate::Direction = $crate::Direction::$direction;
            type Params = $params;
            type Result = $result;
        }
    };
}

/// Implements [`Notification`](crate::Notification) for a struct: its method, direction and parameters.
///
/// The row is like that of [`request!`](crate::request), but without a result.
#[macro_export]
macro_rules! notification {
    ($type:ident: $method:literal $direction:ident, $params:ty) => {
        impl $crate::Notification for $type {
            const METHOD: &'static str = $method;
            const DIRECTION: $crate::Direction = $crate::Direction::$direction;
            type Params = $params;
        }
    };
}

/// Implements the traits of a union of requests or notifications for an enum: `method`, `From` each of them,
/// [`Decode`](crate::Decode), [`Encode`](crate::Encode), [`Object`](crate::Object), [`Validate`](crate::Validate) and
/// `serde`'s traits.
///
/// The last variant is an [`UnknownMethod`](crate::UnknownMethod).
///
/// ```
/// use mcp_wire::{Extra, Null, RawJson, RawObject, Schema, UnknownMethod, methods, object, request, results};
///
/// static SCHEMA: Schema = Schema::new("2099-01-01", r#"{"$defs": {"PingRequest": {}}}"#);
///
/// #[derive(Debug, Clone, PartialEq, Default)]
/// pub struct PingRequest {
///     pub extra: Extra,
/// }
///
/// object! {
///     PingRequest: SCHEMA["#/$defs/PingRequest"]
///     constant {
///         "method" => method: "ping",
///     }
/// }
///
/// request! { PingRequest: "ping" ClientToServer, Null => RawObject }
///
/// #[derive(Debug, Clone, PartialEq)]
/// pub enum ClientRequest {
///     Ping(PingRequest),
///     Unknown(UnknownMethod),
/// }
///
/// methods! {
///     ClientRequest: SCHEMA
///     "ping" => Ping(PingRequest),
///     _ => Unknown,
/// }
///
/// #[derive(Debug, Clone, PartialEq)]
/// pub enum ServerResult {
///     Empty(RawObject),
/// }
///
/// results! {
///     ServerResult: SCHEMA["#/$defs/ServerResult"] Empty;
///     "ping" => Empty,
/// }
///
/// let request: ClientRequest = mcp_wire::from_str(r#"{"method":"ping"}"#)?;
/// assert_eq!(request, PingRequest::default().into());
/// let result = RawJson::from(serde_json::json!({}));
/// assert_eq!(ServerResult::decode(request.method(), &result)?, Some(ServerResult::Empty(RawObject::default())));
/// # Ok::<(), mcp_wire::DecodeError>(())
/// ```
#[macro_export]
macro_rules! methods {
    ($type:ident: $schema:ident $($method:literal => $variant:ident($message:ty),)* _ => $unknown:ident,) => {
        impl $type {
            /// Returns the method's name on the wire.
            #[must_use]
            #[inline]
            pub fn method(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $method,)*
                    Self::$unknown(message) => &message.method,
                }
            }
        }

        $(impl ::std::convert::From<$message> for $type {
            #[inline]
            fn from(message: $message) -> Self {
                Self::$variant(message)
            }
        })*

        impl $crate::Decode for $type {
            #[inline]
            fn decode(reader: &mut $crate::Reader<'_>) -> $crate::Decoded<Self> {
                match reader.peek_tag("method")?.as_deref() {
                    $(Some($method) => reader.decode().map(Self::$variant),)*
                    _ => reader.decode().map(Self::$unknown),
                }
            }
        }

        impl $crate::Object for $type {
            #[inline]
            fn extra(&self) -> &$crate::Extra {
                match self {
                    $(Self::$variant(message) => message.extra(),)*
                    Self::$unknown(message) => message.extra(),
                }
            }

            fn write_members<M: $crate::ObjectWriter>(
                &self,
                members: &mut $crate::MemberWriter<'_, M>,
            ) -> ::std::result::Result<(), M::Error> {
                match self {
                    $(Self::$variant(message) => message.write_members(members),)*
                    Self::$unknown(message) => message.write_members(members),
                }
            }
        }

        $crate::serde_object!($type);

        impl $crate::Validate for $type {
            const POINTER: &'static str = "";

            #[inline]
            fn schema() -> &'static $crate::Schema {
                &$schema
            }

            /// Validates the message by its own definition. A message of a method that the revision doesn't declare is
            /// invalid.
            #[inline]
            fn validate(&self) -> ::std::result::Result<(), $crate::Invalid> {
                match self {
                    $(Self::$variant(message) => $crate::Validate::validate(message),)*
                    Self::$unknown(message) => $crate::Validate::validate(message),
                }
            }
        }
    };
}

/// Implements `decode`, by the method that was called, [`Encode`](crate::Encode), [`Validate`](crate::Validate) and
/// `Serialize` for an enum of results.
///
/// The variants come first, then a row for each method. If a method has several results, each is named with a member
/// that only this result has. A result without any of these members is the first. The results can also have a tag: a
/// result without the tag is the first, and one with an unknown tag becomes the variant after `else`, a
/// [`RawJson`](crate::RawJson). That variant comes after the other variants, also after an `else`.
///
/// `"tools/call" => CallTool("content") or CreateTask("task"),` and
/// `"tools/call" by "resultType" => CallTool = "complete" or InputRequired = "input_required" else Unknown,` are such
/// rows; the example of [`methods!`](crate::methods) has a row with a single result.
#[macro_export]
macro_rules! results {
    (
        $type:ident: $schema:ident[$pointer:literal] $($variant:ident),* $(else $other_kind:ident)?;
        $($method:literal $(by $tag:literal)? =>
            $first:ident $(($first_member:literal) $(or $other:ident($member:literal))+)?
            $(= $first_value:literal $(or $tagged:ident = $value:literal)+ else $unknown:ident)?,)*
    ) => {
        impl $type {
            /// Decodes the result of `method`. `None` if the revision has no such method in this direction.
            ///
            /// # Errors
            /// When the JSON isn't a result of the method.
            pub fn decode(
                method: &str,
                result: &$crate::RawJson,
            ) -> $crate::Decoded<::std::option::Option<Self>> {
                Self::read(method, &mut $crate::Reader::new(result.text()))
            }

            /// Reads the result of `method` as the next value.
            #[doc(hidden)]
            pub fn read(
                method: &str,
                reader: &mut $crate::Reader<'_>,
            ) -> $crate::Decoded<::std::option::Option<Self>> {
                let decoded: $crate::Decoded<Self> = match method {
                    $($method => {
                        $(match reader.peek_members(&[$first_member, $($member),+])? {
                            $(Some($member) => return reader.decode().map(Self::$other).map(Some),)+
                            _ => {}
                        })?
                        $(match reader.peek_tag($tag)?.as_deref() {
                            None | Some($first_value) => {}
                            $(Some($value) => return reader.decode().map(Self::$tagged).map(Some),)+
                            Some(_) => return reader.decode().map(Self::$unknown).map(Some),
                        })?
                        reader.decode().map(Self::$first)
                    })*
                    _ => return Ok(None),
                };
                decoded.map(Some)
            }
        }

        impl $crate::Encode for $type {
            #[inline]
            fn encode(&self, json: &mut $crate::JsonWriter) {
                match self {
                    $(Self::$variant(result) => json.value(result),)*
                    $(Self::$other_kind(result) => json.value(result),)?
                }
            }
        }

        impl $crate::Validate for $type {
            const POINTER: &'static str = $pointer;

            #[inline]
            fn schema() -> &'static $crate::Schema {
                &$schema
            }

            /// Validates the result by its own definition, or a kind of result that the revision doesn't declare by the
            /// definition of the union.
            #[inline]
            fn validate(&self) -> ::std::result::Result<(), $crate::Invalid> {
                match self {
                    $(Self::$variant(result) => $crate::Validate::validate(result),)*
                    $(Self::$other_kind(result) => $crate::validate_at(result, Self::POINTER, &$schema),)?
                }
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(result) => result.serialize(serializer),)*
                    $(Self::$other_kind(result) => result.serialize(serializer),)?
                }
            }
        }
    };
}

/// Implements `From` the enum of one method's results for the enum of all results, and `TryFrom` in the other
/// direction, whose error is the result of another method. A row has a variant of the first enum, and the variant of
/// the second with the same type.
///
/// ```
/// use mcp_wire::{RawJson, RawObject, method_results};
///
/// #[derive(Debug, PartialEq)]
/// pub enum AnyCallResult {
///     Call(RawObject),
///     Unknown(RawJson),
/// }
///
/// #[derive(Debug, PartialEq)]
/// pub enum ServerResult {
///     Call(RawObject),
///     List(RawObject),
///     Unknown(RawJson),
/// }
///
/// method_results! {
///     AnyCallResult in ServerResult
///     Call => Call,
///     Unknown => Unknown,
/// }
///
/// let called = ServerResult::from(AnyCallResult::Call(RawObject::default()));
/// assert_eq!(called, ServerResult::Call(RawObject::default()));
/// let listed = ServerResult::List(RawObject::default());
/// assert_eq!(AnyCallResult::try_from(listed), Err(ServerResult::List(RawObject::default())));
/// ```
#[macro_export]
macro_rules! method_results {
    ($method:ident in $all:ident $($variant:ident => $held:ident,)*) => {
        impl ::std::convert::From<$method> for $all {
            #[inline]
            fn from(result: $method) -> Self {
                match result {
                    $($method::$variant(result) => Self::$held(result),)*
                }
            }
        }

        impl ::std::convert::TryFrom<$all> for $method {
            type Error = $all;

            #[inline]
            fn try_from(result: $all) -> ::std::result::Result<Self, $all> {
                match result {
                    $($all::$held(result) => Ok(Self::$variant(result)),)*
                    #[allow(unreachable_patterns, reason = "a revision may have no other results")]
                    other => Err(other),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{RawJson, RawObject, Schema, Validate};

    static SCHEMA: Schema = Schema::new(
        "2099-01-01",
        r##"{"$defs": {"ServerResult": {"type": "object", "properties": {"kind": {"type": "string"}}}}}"##,
    );

    #[derive(Debug, Clone, PartialEq)]
    enum ServerResult {
        List(RawObject),
        Tell(RawObject),
        Ask(RawObject),
        Unknown(RawJson),
    }

    crate::results! {
        ServerResult: SCHEMA["#/$defs/ServerResult"] List, Tell, Ask else Unknown;
        "list" => List,
        "tell" by "kind" => Tell = "complete" or Ask = "ask" else Unknown,
    }

    #[test]
    fn results_are_distinguished_by_a_tag_whose_absence_means_the_first() {
        let decode = |value| ServerResult::decode("tell", &RawJson::from(value));
        let is_told = |value| matches!(decode(value), Ok(Some(ServerResult::Tell(_))));
        assert!(is_told(json!({"kind": "complete"})) && is_told(json!({})));
        assert!(matches!(
            decode(json!({"a": 1, "kind": "ask"})),
            Ok(Some(ServerResult::Ask(_)))
        ));
    }

    #[test]
    fn a_result_with_an_unknown_tag_is_kept_unchanged() {
        let result = RawJson::from(json!({"kind": "task", "id": 1}));
        let decoded = ServerResult::decode("tell", &result);
        assert_eq!(decoded, Ok(Some(ServerResult::Unknown(result.clone()))));
        assert_eq!(
            crate::to_vec(&decoded.unwrap().unwrap()).unwrap(),
            result.text().as_bytes()
        );
    }

    #[test]
    fn a_tag_is_ignored_in_results_of_methods_without_tags() {
        let list = RawJson::from(json!({"kind": "ask"}));
        let decoded = ServerResult::decode("list", &list);
        assert!(matches!(decoded, Ok(Some(ServerResult::List(_)))), "{decoded:?}");
    }

    #[test]
    fn a_result_with_an_unknown_tag_is_validated_by_the_union() {
        let validate = |value| ServerResult::Unknown(RawJson::from(value)).validate();
        assert_eq!(validate(json!({"kind": "task"})), Ok(()));
        let invalid = validate(json!({"kind": 1})).unwrap_err();
        assert_eq!(invalid.to_string(), "`kind`: expected a string, found 1");
    }
}
