//! Conversions of the members of an object.

use mcp_wire::serde_json::Value;
use mcp_wire::{Decode, Encode, Extra, Map, OpenJson, OpenObject, Schema, error_code, from_str, validate_at};

use crate::conversion::{Conversion, Convert};
use crate::loss::{AUTOMATIC, LossKind};
use crate::open::open;
use crate::unrepresentable::Unrepresentable;

/// For the tables.
#[doc(hidden)]
impl<R> Conversion<R> {
    /// Converts the value of a member.
    #[inline]
    pub fn member<S: Convert<T, R>, T>(&mut self, member: &str, value: S) -> Result<T, Unrepresentable> {
        self.within_member(member, |conversion| value.convert(conversion))
    }

    /// Drops a member that the target doesn't declare, or carries it.
    pub fn leave<T: Encode>(&mut self, extra: &mut Extra, member: &str, value: Option<T>, rule: &'static str) {
        if let Some(value) = value {
            self.leave_present(extra, member, &value, rule);
        }
    }

    #[cold]
    fn leave_present<T: Encode>(&mut self, extra: &mut Extra, member: &str, value: &T, rule: &'static str) {
        if self.carries()
            && let Ok(json) = OpenJson::from_encode(value)
        {
            extra.insert(member, json);
            return;
        }
        self.lose_member(member, LossKind::Dropped, rule);
    }

    /// Takes a member that only the target declares from the undeclared members. A member that is invalid in the target is
    /// lost.
    pub fn adopt<T: Decode + Encode>(
        &mut self,
        extra: &mut Extra,
        member: &str,
        schema: &'static Schema,
        pointer: Option<&str>,
    ) -> Option<T> {
        if extra.is_empty() {
            return None;
        }
        let json = extra.remove(member)?;
        let valid = |value: &T| pointer.is_none_or(|pointer| validate_at(value, pointer, schema).is_ok());
        let value = from_str::<T>(json.text()).ok().filter(valid);
        if value.is_none() {
            self.lose_member(member, LossKind::Dropped, AUTOMATIC);
        }
        value
    }

    /// Drops an undeclared member whose name the target has for another member of the source.
    pub fn make_way(&mut self, extra: &mut Extra, member: &str) {
        if extra.remove(member).is_some() {
            self.lose_member(member, LossKind::Dropped, AUTOMATIC);
        }
    }

    /// Drops or carries a constant that the target doesn't declare, and another value that was kept in its place.
    pub fn leave_constant<T: Encode>(
        &mut self,
        extra: &mut Extra,
        member: &str,
        constant: Option<T>,
        rule: &'static str,
    ) {
        if !extra.contains_key(member) {
            self.leave(extra, member, constant, rule);
        } else if !self.carries() {
            extra.remove(member);
            self.lose_member(member, LossKind::Dropped, rule);
        }
    }

    /// Adds a constant to the undeclared members, from where it is adopted, unless another value was kept in its place.
    pub fn undeclare_constant(&self, extra: &mut Extra, member: &str, is_there: bool, constant: &Value) {
        if is_there && !extra.contains_key(member) {
            extra.insert(member, OpenJson::from(constant));
        }
    }

    /// Gives a member the constant value of the target, and returns whether the member is present. The source may have
    /// another constant. A value that was kept in the place of either is lost, or carried.
    pub fn adopt_constant(
        &mut self,
        extra: &mut Extra,
        member: &str,
        has_other: bool,
        constant: &Value,
        is_required: bool,
    ) -> bool {
        match extra.get(member) {
            Some(kept) if *kept == OpenJson::from(constant) => {
                extra.remove(member);
            }
            Some(_) if self.carries() => {}
            Some(_) if is_required => {
                extra.remove(member);
                self.lose_member(member, LossKind::Replaced, AUTOMATIC);
            }
            Some(_) => {
                extra.remove(member);
                self.lose_member(member, LossKind::Dropped, AUTOMATIC);
                return false;
            }
            None if has_other => self.lose_member(member, LossKind::Replaced, AUTOMATIC),
            None if is_required => self.lose_member(member, LossKind::Defaulted, AUTOMATIC),
            None => return false,
        }
        true
    }

    /// Returns whether a member is present whose value is constant in the target. Another value is refused.
    pub fn constant<T: Encode>(
        &mut self,
        extra: &mut Extra,
        member: &str,
        value: Option<&T>,
        constant: &Value,
        is_required: bool,
    ) -> Result<bool, Unrepresentable> {
        let Some(value) = value else {
            return Ok(self.adopt_constant(extra, member, false, constant, is_required));
        };
        if open(value)? == OpenJson::from(constant) {
            return Ok(true);
        }
        let because = format!("the target revision has nothing but {constant} there");
        Err(Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC).within_member(member))
    }

    /// Returns the value of a member that the target requires, or refuses its absence.
    pub fn require<T>(&self, member: &str, value: Option<T>) -> Result<T, Unrepresentable> {
        value.ok_or_else(|| {
            let because = format!("the target revision requires `{member}`, and nothing supplies it");
            Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC).within_member(member)
        })
    }

    /// Returns the default value of a rule for a member that the source lacks.
    pub fn default<T: Decode>(&mut self, member: &str, json: &str, rule: &'static str) -> Result<T, Unrepresentable> {
        self.lose_member(member, LossKind::Defaulted, rule);
        from_str(json).map_err(|error| Unrepresentable::by_rule(&error, rule).within_member(member))
    }

    /// Returns the value that a rule implies for a member that the source lacks.
    pub fn imply<T: Decode>(&self, member: &str, json: &str, rule: &'static str) -> Result<T, Unrepresentable> {
        from_str(json).map_err(|error| Unrepresentable::by_rule(&error, rule).within_member(member))
    }

    /// Returns a value, unless a rule says that its absence means the same.
    pub fn unless_implied<T: Decode + PartialEq>(&self, value: T, json: &str) -> Option<T> {
        let is_implied = from_str::<T>(json).is_ok_and(|implied| implied == value);
        (!is_implied).then_some(value)
    }

    /// Refuses a member that is present.
    pub fn refuse_member<T>(
        &self,
        member: &str,
        value: Option<&T>,
        code: i64,
        because: &'static str,
        rule: &'static str,
    ) -> Result<(), Unrepresentable> {
        match value {
            Some(_) => Err(Unrepresentable::new(code, because, rule).within_member(member)),
            None => Ok(()),
        }
    }

    /// Validates a value for which the target's schema is stricter than the source's.
    pub fn check<T: Encode>(
        &self,
        member: &str,
        value: T,
        schema: &'static Schema,
        pointer: &str,
    ) -> Result<T, Unrepresentable> {
        match validate_at(&value, pointer, schema) {
            Ok(()) => Ok(value),
            Err(invalid) => Err(
                Unrepresentable::new(error_code::INVALID_PARAMS, invalid.to_string(), AUTOMATIC).within_member(member),
            ),
        }
    }

    /// Drops a value that is invalid in the target, unless it is carried.
    pub fn drop_invalid<T: Encode>(
        &mut self,
        member: &str,
        value: Option<T>,
        schema: &'static Schema,
        pointer: &str,
        rule: &'static str,
    ) -> Option<T> {
        let value = value?;
        if self.carries() || validate_at(&value, pointer, schema).is_ok() {
            return Some(value);
        }
        self.lose_member(member, LossKind::Dropped, rule);
        None
    }

    /// Converts the value of a member, or returns it unchanged if the target can't represent it.
    pub fn member_or_keep<S: Convert<T, R> + Clone, T>(
        &mut self,
        member: &str,
        value: Option<S>,
        rule: &'static str,
    ) -> (Option<T>, Option<S>) {
        let Some(value) = value else {
            return (None, None);
        };
        let before = self.losses.len();
        match self.member(member, value.clone()) {
            Ok(converted) => (Some(converted), None),
            Err(_) => {
                self.losses.truncate(before);
                self.lose_member(member, LossKind::Replaced, rule);
                (None, Some(value))
            }
        }
    }

    /// Removes members from an open object that only the target declares, and whose values are invalid there.
    pub fn declare(
        &mut self,
        member: &str,
        object: OpenObject,
        schema: &'static Schema,
        declared: &[(&str, &str)],
    ) -> OpenObject {
        if self.carries() {
            return object;
        }
        let is_invalid = |(name, pointer): &&(&str, &str)| {
            let value = object.get(name);
            value.is_some_and(|value| validate_at(&value, pointer, schema).is_err())
        };
        let invalid: Vec<&str> = declared.iter().filter(is_invalid).map(|(name, _)| *name).collect();
        if invalid.is_empty() {
            return object;
        }
        let Ok(mut members) = from_str::<Map<OpenJson>>(object.text()) else {
            return object;
        };
        for name in &invalid {
            members.remove(name);
        }
        let Ok(rest) = OpenJson::from_encode(&members) else {
            return object;
        };
        for name in invalid {
            self.lose_within(&[member, name], LossKind::Dropped, AUTOMATIC);
        }
        rest.into()
    }

    /// Drops every undeclared member, because the target allows none. A value in place of a constant isn't undeclared.
    pub fn drop_undeclared(&mut self, extra: &mut Extra, constants: &[&str]) {
        for (member, value) in std::mem::take(extra) {
            if constants.contains(&member.as_str()) {
                extra.insert(member, value);
            } else {
                self.lose_member(&member, LossKind::Dropped, AUTOMATIC);
            }
        }
    }
}
