//! The tables of requests, notifications and results.

/// Conversions of the unions of requests or notifications, method by method. A row is the name of the union, or two names
/// (`ServerRequest => InputRequest`), and its variants:
///
/// - `CallTool => CallTool`: converted.
/// - `GetTask => missing "tasks/get"`: the target has no such method. The message is refused, or carried as an unknown one.
/// - `_ => Unknown => Unknown`: methods that are unknown in the source. The methods after `except` are known in the target, but
///   a peer of the source's revision doesn't have them. They are refused, or decoded again with the policy `Carry`.
#[macro_export]
macro_rules! methods {
    (
        $revision:ident: $from:ident => $to:ident;
        $($source:ident $(=> $target:ident)? { $($rows:tt)* })*
    ) => {$(
        $crate::methods! { @impl $revision, $from, $to, $source $($target)?, { $($rows)* } }
    )*};
    (@impl $revision:ident, $from:ident, $to:ident, $union:ident, $rows:tt) => {
        $crate::methods! { @impl $revision, $from, $to, $union $union, $rows }
    };
    (
        @impl $revision:ident, $from:ident, $to:ident, $source:ident $target:ident, {
            $($variant:ident => $held:ident $($method:literal)?,)*
            _ => $unknown:ident => $other_unknown:ident $(except $($only_there:literal)|+)?,
        }
    ) => {
        impl $crate::Convert<$to::$target, $revision> for $from::$source {
            #[inline]
            fn convert(
                self,
                conversion: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$to::$target, $crate::Unrepresentable> {
                match self {
                    $($from::$source::$variant(message) => {
                        $crate::methods!(@ conversion, message, $to, $target, $other_unknown, $held $($method)?)
                    })*
                    $from::$source::$unknown(message) if conversion.carries() => $crate::close(&$crate::open(&message)?),
                    $($from::$source::$unknown(message) if ::std::matches!(message.method.as_str(), $($only_there)|+) => {
                        ::std::result::Result::Err($crate::Unrepresentable::no_such_method(&message.method, $from::REVISION))
                    })?
                    $from::$source::$unknown(message) => ::std::result::Result::Ok($to::$target::$other_unknown(message)),
                }
            }
        }
    };
    (@ $conversion:ident, $message:ident, $to:ident, $union:ident, $unknown:ident, missing $method:literal) => {
        if $conversion.carries() {
            $crate::close(&$crate::open(&$message)?).map($to::$union::$unknown)
        } else {
            ::std::result::Result::Err($crate::Unrepresentable::no_such_method($method, $to::REVISION))
        }
    };
    (@ $conversion:ident, $message:ident, $to:ident, $union:ident, $unknown:ident, $held:ident) => {
        $message.convert($conversion).map($to::$union::$held)
    };
}

/// Conversions of the unions of results. A row is the name of the union, and its variants: `CallTool => CallTool` is
/// converted, and `GetTask => missing` is the result of a method that the target doesn't have. `_ => Unknown => Unknown` holds
/// results whose kind the source doesn't declare: they are the same in the target, or refused where it has no such variant
/// (`missing`).
#[macro_export]
macro_rules! results {
    (
        $revision:ident: $from:ident => $to:ident;
        $($union:ident { $($variant:ident => $held:ident,)* $(_ => $unknown:ident => $other_unknown:ident,)? })*
    ) => {$(
        impl $crate::Convert<$to::$union, $revision> for $from::$union {
            #[inline]
            fn convert(
                self,
                conversion: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$to::$union, $crate::Unrepresentable> {
                let _ = &conversion;
                match self {
                    $($from::$union::$variant(result) => $crate::results!(@ conversion, result, $to, $union, $held),)*
                    $($from::$union::$unknown(result) => $crate::results!(@unknown result, $to, $union, $other_unknown),)?
                }
            }
        }
    )*};
    (@unknown $result:ident, $to:ident, $union:ident, missing) => {{
        let _ = $result;
        ::std::result::Result::Err($crate::Unrepresentable::no_such_result($to::REVISION))
    }};
    (@unknown $result:ident, $to:ident, $union:ident, $unknown:ident) => {
        ::std::result::Result::Ok($to::$union::$unknown($result))
    };
    (@ $conversion:ident, $result:ident, $to:ident, $union:ident, missing) => {{
        let _ = $result;
        ::std::result::Result::Err($crate::Unrepresentable::no_such_result($to::REVISION))
    }};
    (@ $conversion:ident, $result:ident, $to:ident, $union:ident, $held:ident) => {
        $result.convert($conversion).map($to::$union::$held)
    };
}
