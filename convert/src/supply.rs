//! Conversions of members that some revisions repeat in every message.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use mcp_wire::{Decode, Encode, Extra, OpenJson};

use crate::conversion::{Conversion, Convert};
use crate::loss::{AUTOMATIC, LossKind};
use crate::unrepresentable::Unrepresentable;

/// For the tables.
#[doc(hidden)]
impl<R> Conversion<R> {
    /// Returns a member that the source doesn't declare: its undeclared value, or the value from the supply.
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

    /// Adds a member that the target doesn't declare to the supply. If there is no supply, or it has another value, the
    /// member is dropped and recorded, or carried.
    pub fn hand_over<T: Encode>(
        &mut self,
        extra: &mut Extra,
        member: &str,
        value: Option<T>,
        key: &'static str,
        rule: &'static str,
    ) {
        if let (Some(value), Some(supply)) = (&value, &mut self.supply)
            && let Ok(json) = OpenJson::from_encode(value)
        {
            match Arc::make_mut(supply).entry(key.to_owned()) {
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

    /// Converts an optional object whose required members are all supplied. An absent object is converted like an empty one.
    pub fn fill<S: Convert<T, R> + Default + PartialEq, T>(
        &mut self,
        member: &str,
        value: Option<S>,
    ) -> Result<T, Unrepresentable> {
        let empty = S::default();
        if value.as_ref() == Some(&empty) {
            // In the other direction, an empty object can't be told from an absent one.
            self.lose_member(member, LossKind::Replaced, AUTOMATIC);
        }
        self.member(member, value.unwrap_or(empty))
    }

    /// Converts an object whose required members all go to the supply. The result is absent if it is empty.
    pub fn empty<S: Convert<T, R>, T: Default + PartialEq>(
        &mut self,
        member: &str,
        value: S,
    ) -> Result<Option<T>, Unrepresentable> {
        let value = self.member(member, value)?;
        Ok(Some(value).filter(|value| *value != T::default()))
    }
}
