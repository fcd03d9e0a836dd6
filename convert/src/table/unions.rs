//! The table of unions.

/// Conversions of unions, variant by variant. A row is the name of the union in both revisions, or two names, and its
/// variants:
///
/// - `Text => Text`: converted, and held by that variant of the target.
/// - `Text: convert()`: converted; the target is no union.
/// - `Video: no_counterpart("video")`: refused; the target has nothing that corresponds.
/// - `Video: refuse(-32602, "because", "rule")`: refused by a rule.
/// - `Video: replace("{json}", "rule")`: JSON with placeholders stands in its place.
/// - `Video: carry(Unknown) or no_counterpart("video")`: kept as the target's unknown variant with the policy `Carry`.
/// - `Unknown: reinterpret(Unknown)`: what the source couldn't name; perhaps the target can.
/// - `Unknown: close()`: what the source couldn't name, for a target without an unknown variant.
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
        ::std::mem::drop($value);
        ::std::result::Result::Err($crate::Unrepresentable::no_counterpart($what, $to::REVISION))
    }};
    (
        @value $conversion:ident, $value:ident, $to:ident, $target:ident,
        {refuse($code:literal, $because:literal, $rule:literal)}
    ) => {{
        ::std::mem::drop($value);
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
