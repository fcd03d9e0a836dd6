//! The table of structs whose fields are only moved.

/// Conversions of structs that move each field to the field of the same name. A field with a text is converted, and the
/// text is its name in JSON.
#[macro_export]
macro_rules! moved {
    ($($from:ident::$source:ident => $to:ident::$target:ident { $($field:ident $(: $member:literal)?),* })*) => {$(
        impl $crate::Convert<$to::$target, Revision> for $from::$source {
            #[inline]
            fn convert(
                self,
                conversion: &mut $crate::Conversion<Revision>,
            ) -> Result<$to::$target, $crate::Unrepresentable> {
                let _ = &conversion;
                Ok($to::$target {
                    $($field: $crate::moved!(@ conversion, self.$field $(, $member)?),)*
                    extra: self.extra,
                })
            }
        }
    )*};
    (@ $conversion:ident, $value:expr) => { $value };
    (@ $conversion:ident, $value:expr, $member:literal) => { $conversion.member($member, $value)? };
}
