//! The order of a struct's members.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The names of the members of a struct, in the order of their declaration; empty for other types, and for a struct
/// that flattens another type.
///
/// A derived schema doesn't have this order: its members are in alphabetical order. But serde passes the names of the
/// members to the deserializer before it decodes them.
pub(super) fn member_order<T: DeserializeOwned>() -> &'static [&'static str] {
    match T::deserialize(Probe) {
        Ok(_) => &[],
        Err(Members(names)) => names,
    }
}

/// Sorts items by the order of the members that they are named after. Other items go to the end, and keep their order.
pub(super) fn sort_by_member<T>(items: &mut [T], order: &[&str], name: impl Fn(&T) -> &str) {
    let rank = |item: &T| {
        let mut names = order.iter();
        names.position(|other| *other == name(item)).unwrap_or(order.len())
    };
    // There are few items, and the standard library's sort would add much code for each type.
    for at in 1..items.len() {
        let own = rank(&items[at]);
        let place = items[..at].partition_point(|item| rank(item) <= own);
        items[place..=at].rotate_right(1);
    }
}

/// A deserializer that has no value: it fails with the names of the members that a struct expects.
struct Probe;

/// The members that a struct expects.
#[derive(Debug)]
struct Members(&'static [&'static str]);

impl<'de> Deserializer<'de> for Probe {
    type Error = Members;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Members> {
        Err(Members(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        members: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Members> {
        Err(Members(members))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Members> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

impl Error for Members {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl std::error::Error for Members {}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the members are {:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only the names matter")]
    struct Trip {
        to_city: String,
        day: Option<String>,
        #[serde(skip)]
        price: f64,
        adults: u8,
    }

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only the names matter")]
    struct Wrapped(Trip);

    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only the names matter")]
    struct Flattened {
        note: String,
        #[serde(flatten)]
        trip: Trip,
    }

    #[test]
    fn members_have_the_names_and_the_order_that_serde_uses() {
        assert_eq!(member_order::<Trip>(), ["toCity", "day", "adults"]);
        assert_eq!(member_order::<Wrapped>(), ["toCity", "day", "adults"]);
        assert!(member_order::<Flattened>().is_empty());
        assert!(member_order::<BTreeMap<String, String>>().is_empty());
        assert!(member_order::<()>().is_empty());
    }

    #[test]
    fn items_that_are_not_members_come_last() {
        let mut names = ["a", "b", "day", "toCity"];
        sort_by_member(&mut names, member_order::<Trip>(), |name| name);
        assert_eq!(names, ["toCity", "day", "a", "b"]);
    }
}
