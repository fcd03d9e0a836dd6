//! The table of structs whose fields are only moved.

/// Conversions of structs that move each field to the field of the same name. A field with a text is converted, and the
/// text is its name in JSON.
macro_rules! moved {
    ($($from:ident::$source:ident => $to:ident::$target:ident { $($field:ident $(: $member:literal)?),* })*) => {$(
        impl $crate::conversion::Convert<$to::$target> for $from::$source {
            #[inline]
            fn convert(
                self,
                conversion: &mut $crate::conversion::Conversion,
            ) -> Result<$to::$target, $crate::conversion::Unrepresentable> {
                let _ = &conversion;
                Ok($to::$target {
                    $($field: $crate::moved::moved!(@ conversion, self.$field $(, $member)?),)*
                    extra: self.extra,
                })
            }
        }
    )*};
    (@ $conversion:ident, $value:expr) => { $value };
    (@ $conversion:ident, $value:expr, $member:literal) => { $conversion.member($member, $value)? };
}
pub(crate) use moved;
