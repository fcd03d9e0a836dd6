//! The policy for values that the target revision doesn't declare.

/// The treatment of members and variants that the target revision doesn't declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// They are removed or replaced by declared values, and recorded as losses. The result conforms to the target's
    /// schema.
    #[default]
    Conform,
    /// They stay, as undeclared members and unknown variants, and a later conversion restores them to their places. The
    /// result is for receivers that convert it back, such as gateways.
    Carry,
}
