//! The table of definitions, for conversions by name.

/// Definitions with their types, and with their counterparts one revision earlier and later.
#[macro_export]
macro_rules! definitions {
    ($($name:literal: $type:ty
        $(, earlier $earlier_name:literal: $earlier:ty)?
        $(, later $later_name:literal: $later:ty)?;)*) => {
        const {
            &[$(
                $crate::Definition::new::<$type>($name)
                    $(.earlier::<$type, $earlier>($earlier_name))?
                    $(.later::<$type, $later>($later_name))?
            ),*]
        }
    };
}
