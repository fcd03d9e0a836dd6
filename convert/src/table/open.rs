//! The tables of conversions between types and open JSON.

/// Conversions of types whose values the target leaves open: the values are serialized.
#[macro_export]
macro_rules! opened {
    ($revision:ident: $($source:ty => $target:ty,)*) => {$(
        impl $crate::Convert<$target, $revision> for $source {
            #[inline]
            fn convert(
                self,
                _: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$target, $crate::Unrepresentable> {
                $crate::close(&$crate::open(&self)?)
            }
        }
    )*};
}

/// Conversions of JSON that the source leaves open: it is decoded, and refused if it is invalid in the target.
#[macro_export]
macro_rules! closed {
    ($revision:ident: $($source:ty => $target:ty,)*) => {$(
        impl $crate::Convert<$target, $revision> for $source {
            #[inline]
            fn convert(
                self,
                _: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$target, $crate::Unrepresentable> {
                $crate::close_valid(&self)
            }
        }
    )*};
}
