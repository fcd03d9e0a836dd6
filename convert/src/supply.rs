//! What whoever converts knows, and some revisions say in every message.

use std::collections::btree_map::Entry;

use mcp_wire::serde::Serialize;
use mcp_wire::{Decode, Extra, OpenJson};

use crate::conversion::{Conversion, Convert};
use crate::loss::{AUTOMATIC, LossKind};
use crate::unrepresentable::Unrepresentable;

/// For the tables.
#[doc(hidden)]
impl<R> Conversion<R> {
    /// A member that the source doesn't declare: as it came, or as it is supplied.
    pub fn supplied<T: Decode>(
        &self,
        member: &str,
        value: Option<T>,
        key: &'static str,
    ) -> Result<Option<T>, Unrepresentable> {
        let supplied = self.supply.as_ref().and_then(|supply| supply.get(key));
        match (value, supplied) {
            (None, Some(json)) => match json.decode_as() {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(Unrepresentable::by_rule(&error, AUTOMATIC).within_member(member)),
            },
            (value, _) => Ok(value),
        }
    }

    /// Adds a member that the target doesn't declare to what is supplied. If nothing is supplied, or something else, it is dropped and
    /// recorded, or carried.
    pub fn hand_over<T: Serialize>(
        &mut self,
        extra: &mut Extra,
        member: &str,
        value: Option<T>,
        key: &'static str,
        rule: &'static str,
    ) {
        if let (Some(value), Some(supply)) = (&value, &mut self.supply)
            && let Ok(json) = OpenJson::from_serialize(value)
        {
            match supply.entry(key.to_owned()) {
                Entry::Vacant(entry) => {
                    entry.insert(json);
                    return;
                }
                Entry::Occupied(entry) if *entry.get() == json => return,
                Entry::Occupied(_) => {}
            }
        }
        self.leave(extra, member, value, rule);
    }

    /// Converts an object in which the target requires nothing but what is supplied: an absent one is an empty one.
    pub fn fill<S: Convert<T, R> + Default + PartialEq, T>(
        &mut self,
        member: &str,
        value: Option<S>,
    ) -> Result<T, Unrepresentable> {
        let empty = S::default();
        if value.as_ref() == Some(&empty) {
            // Coming back, it can't be told from an absent one.
            self.lose_member(member, LossKind::Replaced, AUTOMATIC);
        }
        self.member(member, value.unwrap_or(empty))
    }

    /// Converts an object in which the source requires nothing but what is supplied: an empty one is left out.
    pub fn empty<S: Convert<T, R>, T: Default + PartialEq>(
        &mut self,
        member: &str,
        value: S,
    ) -> Result<Option<T>, Unrepresentable> {
        let value = self.member(member, value)?;
        Ok(Some(value).filter(|value| *value != T::default()))
    }
}
