//! The members of an object, one by one.

use mcp_wire::serde::Serialize;
use mcp_wire::serde_json::Value;
use mcp_wire::{Decode, Extra, Map, OpenJson, OpenObject, Schema, error_code, from_str, validate_at};

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

    /// Leaves out a member that the target doesn't declare, or carries it.
    pub fn leave<T: Serialize>(&mut self, extra: &mut Extra, member: &str, value: Option<T>, rule: &'static str) {
        if let Some(value) = value {
            self.leave_present(extra, member, &value, rule);
        }
    }

    #[cold]
    fn leave_present<T: Serialize>(&mut self, extra: &mut Extra, member: &str, value: &T, rule: &'static str) {
        if self.carries()
            && let Ok(json) = OpenJson::from_serialize(value)
        {
            extra.insert(member, json);
            return;
        }
        self.lose_member(member, LossKind::Dropped, rule);
    }

    /// Takes a member that the source doesn't declare and the target does; one that the target would find invalid is lost.
    pub fn adopt<T: Decode + Serialize>(
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

    /// Leaves out a constant that the target doesn't declare, or carries it; so too another value that was kept in its place.
    pub fn leave_constant<T: Serialize>(
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

    /// Puts a constant among the undeclared members, to be adopted from there, unless another value was kept in its place.
    pub fn undeclare_constant(&self, extra: &mut Extra, member: &str, is_there: bool, constant: &Value) {
        if is_there && !extra.contains_key(member) {
            extra.insert(member, OpenJson::from(constant));
        }
    }

    /// Makes a member the constant that the target has there, and says whether it is there. The source may have another constant
    /// in its place. A value that was kept in the place of either is lost, or carried.
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

    /// Whether a member is there whose value is constant in the target; another value is refused.
    pub fn constant<T: Serialize>(
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

    /// The value of a member that the target requires.
    pub fn require<T>(&self, member: &str, value: Option<T>) -> Result<T, Unrepresentable> {
        value.ok_or_else(|| {
            let because = format!("the target revision requires `{member}`, and nothing supplies it");
            Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC).within_member(member)
        })
    }

    /// The value that a rule gives to a member that the source lacks.
    pub fn default<T: Decode>(&mut self, member: &str, json: &str, rule: &'static str) -> Result<T, Unrepresentable> {
        self.lose_member(member, LossKind::Defaulted, rule);
        from_str(json).map_err(|error| Unrepresentable::by_rule(&error, rule).within_member(member))
    }

    /// The value that a rule says a member has in effect where the source lacks it.
    pub fn imply<T: Decode>(&self, member: &str, json: &str, rule: &'static str) -> Result<T, Unrepresentable> {
        from_str(json).map_err(|error| Unrepresentable::by_rule(&error, rule).within_member(member))
    }

    /// A value, unless a rule says that its absence means the same.
    pub fn unless_implied<T: Decode + PartialEq>(&self, value: T, json: &str) -> Option<T> {
        let is_implied = from_str::<T>(json).is_ok_and(|implied| implied == value);
        (!is_implied).then_some(value)
    }

    /// Refuses a member that is there.
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

    /// Validates a value where the target says more about it than the source.
    pub fn check<T: Serialize>(
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

    /// Leaves out a value that the target finds invalid, unless it is carried.
    pub fn drop_invalid<T: Serialize>(
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

    /// Converts the value of a member, or gives it back if the target can't hold it.
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

    /// Takes out of an open object what only the target declares in it and would find invalid.
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
        let Ok(rest) = OpenJson::from_serialize(&members) else {
            return object;
        };
        for name in invalid {
            self.lose_within(&[member, name], LossKind::Dropped, AUTOMATIC);
        }
        rest.into()
    }

    /// Leaves out every undeclared member, because the target allows none. What was kept in place of a constant isn't undeclared.
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
