//! The table of enumerations.

/// Conversions of enumerations by their strings. A row is the name of the enumeration in both revisions, or two names. A
/// string that the target doesn't declare becomes its unknown value.
#[macro_export]
macro_rules! strings {
    ($revision:ident: $from:ident => $to:ident; $($source:ident $(=> $target:ident)?,)*) => {$(
        $crate::strings! { @ $revision, $from, $to, $source $($target)? }
    )*};
    (@ $revision:ident, $from:ident, $to:ident, $type:ident) => {
        $crate::strings! { @ $revision, $from, $to, $type $type }
    };
    (@ $revision:ident, $from:ident, $to:ident, $source:ident $target:ident) => {
        impl $crate::Convert<$to::$target, $revision> for $from::$source {
            #[inline]
            fn convert(
                self,
                _: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$to::$target, $crate::Unrepresentable> {
                ::std::result::Result::Ok($to::$target::from(self.as_str()))
            }
        }
    };
}
