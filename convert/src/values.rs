//! Values that rules replace, hide, omit or add.

use std::collections::HashSet;

use mcp_wire::{Decode, Encode, Map, OpenJson, from_str};

use crate::conversion::{Conversion, Convert};
use crate::loss::LossKind;
use crate::open::open;
use crate::placeholders::fill_template;
use crate::unrepresentable::Unrepresentable;

/// For the tables.
#[doc(hidden)]
impl<R> Conversion<R> {
    /// Replaces a variant that the target lacks by the JSON of a rule.
    pub fn replace<S: Encode, T: Decode>(
        &mut self,
        value: &S,
        template: &str,
        rule: &'static str,
    ) -> Result<T, Unrepresentable> {
        let filled = fill_template(template, &open(value)?).map_err(|error| Unrepresentable::by_rule(&error, rule))?;
        self.lose(LossKind::Replaced, rule);
        from_str(&filled.to_string()).map_err(|error| Unrepresentable::by_rule(&error, rule))
    }

    /// Decodes a value that is unknown in the source, since the target may know it.
    pub fn reinterpret<T: Decode>(&mut self, json: OpenJson, unknown: fn(OpenJson) -> T) -> T {
        from_str(json.text()).unwrap_or_else(|_| unknown(json))
    }

    /// Converts the elements of a list, except for those that a rule hides.
    pub fn show<S: Convert<T, R>, T>(
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

    /// Converts the entries of a map, and leaves out entries that can't be converted unless they are required.
    pub fn omit<S: Convert<T, R>, T>(
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

    /// Appends an element to a list, unless there is one of its kind.
    pub fn ensure<S: Encode, T: Decode>(
        &mut self,
        list: &mut Vec<T>,
        member: &str,
        value: &S,
        item: &str,
        rule: &'static str,
    ) -> Result<(), Unrepresentable> {
        let filled = fill_template(item, &open(value)?).map_err(|error| Unrepresentable::by_rule(&error, rule))?;
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
}
