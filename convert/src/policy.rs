//! What becomes of what the other revision lacks.

/// The treatment of members and variants that the target revision doesn't declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// It is removed or replaced by what the target declares, and recorded as a loss. The result conforms to the target's schema.
    #[default]
    Conform,
    /// It stays, as undeclared members and unknown variants, and a later conversion puts it back where it belongs.
    /// What comes out is for those who will convert it back, such as gateways.
    Carry,
}
