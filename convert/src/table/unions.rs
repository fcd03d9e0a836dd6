//! The table of unions.

/// Conversions of unions, variant by variant. A row is the name of the union in both revisions, or two names, and its
/// variants:
///
/// - `Text => Text`: converted to that variant of the target.
/// - `Text: convert()`: converted. The target isn't a union.
/// - `Video: no_counterpart("video")`: refused, because the target has no counterpart.
/// - `Video: refuse(-32602, "because", "rule")`: refused by a rule.
/// - `Video: replace("{json}", "rule")`: replaced by JSON with placeholders.
/// - `Video: carry(Unknown) or no_counterpart("video")`: kept as the target's unknown variant with the policy `Carry`.
/// - `Unknown: reinterpret(Unknown)`: unknown in the source. Decoded again, since the target may know it.
/// - `Unknown: close()`: unknown in the source, for a target without an unknown variant.
#[macro_export]
macro_rules! unions {
    (
        $revision:ident: $from:ident => $to:ident;
        $($source:ident $(=> $target:ident)? { $(
            $variant:ident $(=> $held:ident)? $(: $how:ident($($argument:tt)*) $(or $else:ident($($or:tt)*))?)?
        ),* $(,)? })*
    ) => {$(
        $crate::unions! {
            @impl $revision, $from, $to, $source $($target)?;
            $($variant {$($held)? $($how($($argument)*) $(or $else($($or)*))?)?})*
        }
    )*};
    (@impl $revision:ident, $from:ident, $to:ident, $type:ident; $($rows:tt)*) => {
        $crate::unions! { @impl $revision, $from, $to, $type $type; $($rows)* }
    };
    (@impl $revision:ident, $from:ident, $to:ident, $source:ident $target:ident; $($variant:ident $how:tt)*) => {
        impl $crate::Convert<$to::$target, $revision> for $from::$source {
            #[inline]
            fn convert(
                self,
                conversion: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$to::$target, $crate::Unrepresentable> {
                let _ = &conversion;
                match self {
                    $($from::$source::$variant(value) => {
                        $crate::unions!(@value conversion, value, $to, $target, $how)
                    })*
                }
            }
        }
    };
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {$held:ident}) => {
        $value.convert($conversion).map($to::$target::$held)
    };
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {convert()}) => { $value.convert($conversion) };
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {no_counterpart($what:literal)}) => {{
        let _ = $value;
        ::std::result::Result::Err($crate::Unrepresentable::no_counterpart($what, $to::REVISION))
    }};
    (
        @value $conversion:ident, $value:ident, $to:ident, $target:ident,
        {refuse($code:literal, $because:literal, $rule:literal)}
    ) => {{
        let _ = $value;
        ::std::result::Result::Err($crate::Unrepresentable::new($code, $because, $rule))
    }};
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {replace($json:literal, $rule:literal)}) => {
        $conversion.replace(&$value, $json, $rule)
    };
    (
        @value $conversion:ident, $value:ident, $to:ident, $target:ident,
        {carry($unknown:ident) or $else:ident($($or:tt)*)}
    ) => {
        if $conversion.carries() {
            $crate::open(&$value).map($to::$target::$unknown)
        } else {
            $crate::unions!(@value $conversion, $value, $to, $target, {$else($($or)*)})
        }
    };
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {reinterpret($unknown:ident)}) => {
        ::std::result::Result::Ok($conversion.reinterpret($value, $to::$target::$unknown))
    };
    (@value $conversion:ident, $value:ident, $to:ident, $target:ident, {close()}) => { $crate::close(&$value) };
}

#[cfg(test)]
mod tests {
    use mcp_wire::OpenJson;
    use mcp_wire::serde_json::json;

    use crate::{Conversion, Policy, Unrepresentable};

    enum Revision {}

    mod source {
        use mcp_wire::OpenJson;

        pub enum Content {
            Text(String),
            Image(i64),
            Video(bool),
            Secret(String),
            Unknown(OpenJson),
        }
    }

    mod target {
        use mcp_wire::OpenJson;

        pub const REVISION: &str = "2099-01-01";

        #[derive(Debug, PartialEq)]
        pub enum Content {
            Text(String),
            Unknown(OpenJson),
        }

        impl mcp_wire::Decode for Content {
            fn decode(reader: &mut mcp_wire::Reader<'_>) -> mcp_wire::Decoded<Self> {
                reader.decode().map(Self::Text)
            }
        }
    }

    unions! {
        Revision: source => target;
        Content {
            Text => Text,
            Image: carry(Unknown) or replace("\"[image {}]\"", "the rule"),
            Video: no_counterpart("video"),
            Secret: refuse(-32602, "it is a secret", "the rule"),
            Unknown: reinterpret(Unknown),
        }
    }

    fn converted(content: source::Content, policy: Policy) -> (Result<target::Content, Unrepresentable>, Vec<String>) {
        let mut conversion = Conversion::<Revision>::new(policy);
        let result = conversion.convert(content);
        let losses = conversion.into_losses().iter().map(ToString::to_string).collect();
        (result, losses)
    }

    #[test]
    fn a_variant_that_both_have_is_converted_without_a_loss() {
        let (result, losses) = converted(source::Content::Text("a".into()), Policy::Conform);
        assert_eq!(result, Ok(target::Content::Text("a".into())));
        assert!(losses.is_empty());
    }

    #[test]
    fn a_replaced_variant_is_recorded_and_a_carried_one_is_kept() {
        let (result, losses) = converted(source::Content::Image(7), Policy::Conform);
        assert_eq!(result, Ok(target::Content::Text("[image 7]".into())));
        assert_eq!(losses, ["`(root)` replaced (the rule)"]);
        let (result, losses) = converted(source::Content::Image(7), Policy::Carry);
        assert_eq!(result, Ok(target::Content::Unknown(OpenJson::from(json!(7)))));
        assert!(losses.is_empty());
    }

    #[test]
    fn a_variant_without_a_counterpart_is_refused_in_the_name_of_the_revision() {
        let refused = converted(source::Content::Video(true), Policy::Carry).0.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "revision 2099-01-01 has no counterpart of `video` there"
        );
        let refused = converted(source::Content::Secret("a".into()), Policy::Carry)
            .0
            .unwrap_err();
        assert_eq!((refused.code(), refused.rule()), (-32602, "the rule"));
    }

    #[test]
    fn what_the_source_could_not_name_is_what_the_target_calls_it() {
        let unknown = |json| source::Content::Unknown(OpenJson::from(json));
        let (result, _) = converted(unknown(json!("a")), Policy::Conform);
        assert_eq!(result, Ok(target::Content::Text("a".into())));
        let (result, _) = converted(unknown(json!(1)), Policy::Conform);
        assert_eq!(result, Ok(target::Content::Unknown(OpenJson::from(json!(1)))));
    }
}
