//! The tables of types that one of two revisions leaves open.

/// Conversions of types whose values the target leaves open: they are written as JSON.
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

/// Conversions of JSON that the source leaves open: it is read, and refused where the target's schema refuses it.
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
