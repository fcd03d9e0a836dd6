//! The data that the emitters of types share.

use super::docs::Documenter;
use super::identifiers::Identifiers;
use super::input::EmitInput;
use super::tokens::Scope;

/// The data that the emitters of types share.
pub(super) struct Emitter<'i> {
    pub(super) input: &'i EmitInput<'i>,
    pub(super) scope: Scope,
    pub(super) documenter: Documenter<'i>,
    pub(super) identifiers: Identifiers,
}
