//! Moving values from one revision to the next, and what is lost on the way.

use std::collections::HashSet;

use mcp_wire::path::Segment;
use mcp_wire::serde::Serialize;
use mcp_wire::serde_json::Value;
use mcp_wire::{Decode, Extra, Map, OpenJson, OpenObject, Path, Schema, Validate, error_code, from_str, validate_at};

use crate::filling::fill_template;
use crate::loss::{Reversed, without_detours};

pub use crate::loss::{Loss, LossKind};
pub use crate::unrepresentable::Unrepresentable;

/// A value that has a counterpart in an adjacent revision.
///
/// Going to the later revision is an upgrade, going to the earlier one a downgrade; which it is, the types say.
pub trait Convert<T>: Sized {
    /// The counterpart, made by moving what the value holds. What is lost is noted in `conversion`.
    ///
    /// # Errors
    /// When the other revision can't represent the value.
    fn convert(self, conversion: &mut Conversion) -> Result<T, Unrepresentable>;
}

/// What happens to what the target revision doesn't declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// It is removed, or put into words the target has, and recorded as lost: what comes out conforms to the target.
    #[default]
    Conform,
    /// It stays, as undeclared members and unknown variants, and a later conversion puts it back where it belongs.
    /// What comes out is for those who will convert it back, such as gateways.
    Carry,
}

/// The state of one conversion: its policy, and what has been lost so far.
///
/// What of it isn't documented here is for generated conversions, and for the functions that rules call.
#[derive(Debug, Default)]
pub struct Conversion {
    policy: Policy,
    losses: Vec<Reversed>,
}

/// What automatic losses and refusals name as their rule.
pub(crate) const AUTOMATIC: &str = "automatic";

impl Conversion {
    /// A conversion with a policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            losses: Vec::new(),
        }
    }

    /// Converts a value.
    ///
    /// # Errors
    /// When the other revision can't represent it.
    pub fn convert<S: Convert<T>, T>(&mut self, value: S) -> Result<T, Unrepresentable> {
        value.convert(self)
    }

    /// What happens to what the target doesn't declare.
    #[must_use]
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Whether nothing has been lost so far.
    #[must_use]
    pub fn is_lossless(&self) -> bool {
        self.losses.is_empty()
    }

    /// What was lost, in the order in which it was.
    #[must_use]
    pub fn into_losses(self) -> Vec<Loss> {
        let finished = self.losses.into_iter().map(|loss| Loss {
            path: Path::from_reversed(loss.path),
            kind: loss.kind,
            rule: loss.rule,
        });
        without_detours(finished.collect())
    }

    /// Notes that something about the value at hand was lost.
    pub fn lose(&mut self, kind: LossKind, rule: &'static str) {
        let path = Vec::new();
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Notes that something about a member of the value at hand was lost.
    pub fn lose_member(&mut self, member: &str, kind: LossKind, rule: &'static str) {
        let path = vec![Segment::Member(member.to_owned())];
        self.losses.push(Reversed { path, kind, rule });
    }

    /// Notes that something further inside was lost.
    #[doc(hidden)]
    pub fn lose_within(&mut self, path: &[&str], kind: LossKind, rule: &'static str) {
        let path = path
            .iter()
            .rev()
            .map(|member| Segment::Member((*member).to_owned()))
            .collect();
        self.losses.push(Reversed { path, kind, rule });
    }

    #[doc(hidden)]
    pub fn carries(&self) -> bool {
        self.policy == Policy::Carry
    }

    /// Does something inside a member: what is lost or refused there has the member on its path.
    #[doc(hidden)]
    pub fn within_member<T>(
        &mut self,
        member: &str,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(|| Segment::Member(member.to_owned()), inside)
    }

    /// Does something inside an element of a list.
    #[doc(hidden)]
    pub fn within_element<T>(
        &mut self,
        index: usize,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        self.within(|| Segment::Index(index), inside)
    }

    #[inline]
    fn within<T>(
        &mut self,
        segment: impl Fn() -> Segment,
        inside: impl FnOnce(&mut Self) -> Result<T, Unrepresentable>,
    ) -> Result<T, Unrepresentable> {
        let before = self.losses.len();
        let result = inside(self);
        for loss in &mut self.losses[before..] {
            loss.path.push(segment());
        }
        result.map_err(|error| error.within(segment()))
    }

    /// Converts the value of a member.
    #[doc(hidden)]
    #[inline]
    pub fn member<S: Convert<T>, T>(&mut self, member: &str, value: S) -> Result<T, Unrepresentable> {
        self.within_member(member, |conversion| value.convert(conversion))
    }

    /// Leaves out a member that the target doesn't declare, or carries it.
    #[doc(hidden)]
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
    #[doc(hidden)]
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
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn undeclare_constant(&self, extra: &mut Extra, member: &str, is_there: bool, constant: &Value) {
        if is_there && !extra.contains_key(member) {
            extra.insert(member, OpenJson::from(constant));
        }
    }

    /// Makes a member the constant that the target has there, and says whether it is there. The source may have another constant
    /// in its place. A value that was kept in the place of either is lost, or carried.
    #[doc(hidden)]
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
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn require<T>(&self, member: &str, value: Option<T>) -> Result<T, Unrepresentable> {
        value.ok_or_else(|| {
            let because = format!("the target revision requires `{member}`, and nothing supplies it");
            Unrepresentable::new(error_code::INVALID_PARAMS, because, AUTOMATIC).within_member(member)
        })
    }

    /// The value that a rule gives to a member that the source lacks.
    #[doc(hidden)]
    pub fn default<T: Decode>(&mut self, member: &str, json: &str, rule: &'static str) -> Result<T, Unrepresentable> {
        self.lose_member(member, LossKind::Defaulted, rule);
        from_str(json).map_err(|error| Unrepresentable::by_rule(&error, rule).within_member(member))
    }

    /// Refuses a member that is there.
    #[doc(hidden)]
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
    #[doc(hidden)]
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

    /// Takes out of an open object what only the target declares in it and would find invalid.
    #[doc(hidden)]
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

    /// Puts JSON in place of a variant that the target lacks.
    #[doc(hidden)]
    pub fn replace<S: Serialize, T: Decode>(
        &mut self,
        value: &S,
        template: &str,
        rule: &'static str,
    ) -> Result<T, Unrepresentable> {
        let filled = fill_template(template, value).map_err(|error| Unrepresentable::by_rule(&error, rule))?;
        self.lose(LossKind::Replaced, rule);
        from_str(&filled.to_string()).map_err(|error| Unrepresentable::by_rule(&error, rule))
    }

    /// A value that the source couldn't name: perhaps the target can.
    #[doc(hidden)]
    pub fn reinterpret<T: Decode>(&mut self, json: OpenJson, unknown: fn(OpenJson) -> T) -> T {
        from_str(json.text()).unwrap_or_else(|_| unknown(json))
    }

    /// Converts the elements of a list but those that a rule hides.
    #[doc(hidden)]
    pub fn show<S: Convert<T>, T>(
        &mut self,
        list: Vec<S>,
        is_hidden: impl Fn(&S) -> bool,
        rule: &'static str,
    ) -> Result<Vec<T>, Unrepresentable> {
        let mut shown = Vec::with_capacity(list.len());
        for (index, element) in list.into_iter().enumerate() {
            self.within_element(index, |conversion| {
                if is_hidden(&element) && !conversion.carries() {
                    conversion.lose(LossKind::Dropped, rule);
                } else {
                    shown.push(element.convert(conversion)?);
                }
                Ok(())
            })?;
        }
        Ok(shown)
    }

    /// Converts the entries of a map, and leaves out those that can't be unless they are needed.
    #[doc(hidden)]
    pub fn omit<S: Convert<T>, T>(
        &mut self,
        map: Map<S>,
        needed: &[String],
        rule: &'static str,
    ) -> Result<Map<T>, Unrepresentable> {
        let needed: HashSet<&str> = needed.iter().map(String::as_str).collect();
        map.try_filter_map(|key, value| {
            let before = self.losses.len();
            match self.within_member(key, |conversion| value.convert(conversion)) {
                Ok(value) => Ok(Some(value)),
                Err(error) if needed.contains(key) => Err(error),
                Err(_) => {
                    self.losses.truncate(before);
                    self.lose_member(key, LossKind::Dropped, rule);
                    Ok(None)
                }
            }
        })
    }

    /// Appends an element to a list unless one of its kind is there.
    #[doc(hidden)]
    pub fn ensure<S: Serialize, T: Decode>(
        &mut self,
        list: &mut Vec<T>,
        member: &str,
        value: &S,
        item: &str,
        rule: &'static str,
    ) -> Result<(), Unrepresentable> {
        let filled = fill_template(item, value).map_err(|error| Unrepresentable::by_rule(&error, rule))?;
        let element: T = from_str(&filled.to_string()).map_err(|error| Unrepresentable::by_rule(&error, rule))?;
        let kind = std::mem::discriminant(&element);
        if !list.iter().any(|other| std::mem::discriminant(other) == kind) {
            self.within_member(member, |conversion| {
                conversion.within_element(list.len(), |conversion| {
                    conversion.lose(LossKind::Defaulted, rule);
                    Ok(())
                })
            })?;
            list.push(element);
        }
        Ok(())
    }

    /// Leaves out every undeclared member, because the target allows none. What was kept in place of a constant isn't undeclared.
    #[doc(hidden)]
    pub fn close(&mut self, extra: &mut Extra, constants: &[&str]) {
        for (member, value) in std::mem::take(extra) {
            if constants.contains(&member.as_str()) {
                extra.insert(member, value);
            } else {
                self.lose_member(&member, LossKind::Dropped, AUTOMATIC);
            }
        }
    }
}

/// A value as JSON, for a target that leaves it open.
pub(crate) fn open<S: Serialize>(value: &S) -> Result<OpenJson, Unrepresentable> {
    OpenJson::from_serialize(value).map_err(|error| Unrepresentable::by_rule(&error, AUTOMATIC))
}

/// A value of the target, from JSON that the source leaves open.
pub(crate) fn close<T: Decode>(json: &OpenJson) -> Result<T, Unrepresentable> {
    from_str(json.text()).map_err(|error| Unrepresentable::by_rule(&error.reason(), AUTOMATIC).at(&error.path()))
}

/// A valid value of the target, from JSON that the source leaves open.
#[doc(hidden)]
pub fn close_valid<T: Decode + Validate>(json: &OpenJson) -> Result<T, Unrepresentable> {
    let value: T = close(json)?;
    match value.validate() {
        Ok(()) => Ok(value),
        Err(invalid) => Err(Unrepresentable::by_rule(&invalid, AUTOMATIC)),
    }
}

/// A map of valid values of the target, from JSON that the source leaves open.
#[doc(hidden)]
pub fn close_entries<T: Decode + Validate>(json: &OpenJson) -> Result<Map<T>, Unrepresentable> {
    let entries: Map<OpenJson> = close(json)?;
    let close_entry = |(key, value): (String, OpenJson)| match close_valid(&value) {
        Ok(value) => Ok((key, value)),
        Err(refused) => Err(refused.within_member(&key)),
    };
    entries.into_iter().map(close_entry).collect()
}
