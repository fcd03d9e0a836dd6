//! What is compared.

use crate::facts::Facts;
use crate::model::Model;

/// A revision to be compared.
#[derive(Clone, Copy)]
pub struct DiffSide<'m> {
    /// Its model.
    pub model: &'m Model,
    /// What its schema can't say.
    pub facts: &'m Facts,
}
