//! The table of conversions over more than one revision.

/// Conversions over more than one revision, in one call.
///
/// A table names the enumeration of revisions and the modules of the first, the next and the last revision. A row is the
/// name of a type, or three names if they differ.
#[macro_export]
macro_rules! chains {
    ($revision:ident: $from:ident => $via:ident => $to:ident; $($source:ident $(=> $next:ident => $target:ident)?,)*) => {$(
        $crate::chains! { @ $revision, $from, $via, $to, $source $($next $target)? }
    )*};
    (@ $revision:ident, $from:ident, $via:ident, $to:ident, $type:ident) => {
        $crate::chains! { @ $revision, $from, $via, $to, $type $type $type }
    };
    (@ $revision:ident, $from:ident, $via:ident, $to:ident, $source:ident $next:ident $target:ident) => {
        impl $crate::Convert<$to::$target, $revision> for $from::$source {
            fn convert(
                self,
                conversion: &mut $crate::Conversion<$revision>,
            ) -> Result<$to::$target, $crate::Unrepresentable> {
                let next: $via::$next = self.convert(conversion)?;
                next.convert(conversion)
            }
        }
    };
}
