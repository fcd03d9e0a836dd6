//! Looking ahead into the next value, to distinguish the variants of a union.

use std::borrow::Cow;

use super::{JsonType, Reader};
use crate::encode::push_string;
use crate::error::{DecodeError, DecodeErrorKind, Decoded};

/// A member that distinguishes the variants of a union of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Discriminator {
    /// The member.
    pub member: &'static str,
    /// The types that its value can have. Empty for any type.
    pub types: &'static [JsonType],
    /// The other members that the variant requires.
    pub required: &'static [&'static str],
}

impl<'a> Reader<'a> {
    /// Looks ahead for a string member of the next object. The cursor doesn't move.
    ///
    /// Returns `None` if the object has no such member.
    ///
    /// # Errors
    /// When the next value isn't an object, or the member isn't a string.
    pub fn peek_tag(&mut self, member: &str) -> Decoded<Option<Cow<'a, str>>> {
        // The method may have been read with the envelope of the message.
        if member == "method"
            && let Some(method) = self.next_method()
        {
            return Ok(Some(Cow::Borrowed(method)));
        }
        self.peek_into(member, Self::string)
    }

    /// Looks ahead for a member of the next object whose JSON type is one of `types`, or any if there are none. Returns
    /// its JSON, in which equal constants are equal: an integer has no fraction or exponent. The cursor doesn't move.
    ///
    /// Returns `None` if the object has no such member.
    ///
    /// # Errors
    /// When the next value isn't an object, or the member has another type.
    pub fn peek_constant(&mut self, member: &str, types: &[JsonType]) -> Decoded<Option<Cow<'a, str>>> {
        self.peek_into(member, |reader| {
            let found = reader.json_type()?;
            if !types.is_empty() && !types.contains(&found) {
                let expected: Vec<_> = types.iter().map(|json_type| json_type.with_article()).collect();
                return Err(reader.wrong_type(expected.join(" or "), found));
            }
            if found == JsonType::String {
                let mut json = String::new();
                push_string(&mut json, &reader.string()?);
                return Ok(Cow::Owned(json));
            }
            let text = reader.raw()?;
            let integer = (found == JsonType::Number)
                .then(|| Self::new(text).integer().ok())
                .flatten();
            Ok(integer.map_or(Cow::Borrowed(text), |integer| Cow::Owned(integer.to_string())))
        })
    }

    /// Looks ahead for the first member of the next object whose name is among `members`. The cursor doesn't move.
    ///
    /// # Errors
    /// When the next value isn't an object.
    pub fn peek_member(&mut self, members: &[&'static str]) -> Decoded<Option<&'static str>> {
        let mut found = None;
        self.peek(|reader| {
            reader.seek(|key| {
                found = members.iter().copied().find(|member| *member == key);
                found.is_some()
            })
        })?;
        Ok(found)
    }

    /// Looks ahead for the first of `members`, in that order, that the next object has. The cursor doesn't move.
    ///
    /// # Errors
    /// When the next value isn't an object.
    pub fn peek_members(&mut self, members: &[&'static str]) -> Decoded<Option<&'static str>> {
        let mut best = members.len();
        self.peek(|reader| {
            reader.seek(|key| {
                let rank = members.iter().position(|member| *member == key);
                best = best.min(rank.unwrap_or(best));
                best == 0
            })
        })?;
        Ok(members.get(best).copied())
    }

    /// Looks ahead for the first of `cases` that fits the next object. Returns `None` if none fits. The cursor doesn't
    /// move.
    ///
    /// If none fits and the object lacks a member of `otherwise_required`, the result is the first case whose member
    /// the object has. Decoding the object as that case then fails with a useful error. But the variant of an earlier
    /// case may declare this member too: then the object must also have another member of the case.
    ///
    /// # Errors
    /// When the next value isn't an object, or has none of the members that distinguish the variants.
    pub fn peek_discriminator(
        &mut self,
        cases: &[Discriminator],
        otherwise_required: &[&'static str],
    ) -> Decoded<Option<&'static str>> {
        let mut found: Vec<(&'static str, JsonType)> = Vec::new();
        let asked = |key: &str| {
            let of_cases = cases
                .iter()
                .flat_map(|case| [&case.member].into_iter().chain(case.required));
            otherwise_required
                .iter()
                .chain(of_cases)
                .copied()
                .find(|member| *member == key)
        };
        self.peek(|ahead| {
            while !ahead.at_end {
                let mut member = None;
                ahead.seek(|key| {
                    member = asked(key);
                    member.is_some()
                })?;
                if let Some(member) = member {
                    found.push((member, ahead.reader.json_type()?));
                    ahead.reader.raw().map_err(|error| error.in_member(member))?;
                }
            }
            Ok(())
        })?;
        let json_type = |member: &str| found.iter().find(|(key, _)| *key == member).map(|(_, found)| *found);
        let has = |member: &&str| json_type(member).is_some();
        let can_be = |case: &&Discriminator| {
            let fits = |json_type| case.types.is_empty() || case.types.contains(&json_type);
            json_type(case.member).is_some_and(fits) && case.required.iter().all(has)
        };
        let chosen = cases.iter().find(can_be);
        if chosen.is_some() || otherwise_required.iter().all(has) {
            return Ok(chosen.map(|case| case.member));
        }
        let is_likely = |(index, case): &(usize, &Discriminator)| {
            let mut own = case
                .required
                .iter()
                .filter(|member| !otherwise_required.contains(member));
            has(&case.member) && (*index == 0 || own.clone().next().is_none() || own.any(has))
        };
        if let Some((_, case)) = cases.iter().enumerate().find(is_likely) {
            return Ok(Some(case.member));
        }
        let is_of_all = |member: &&&str| cases.iter().all(|case| case.required.contains(member));
        let mut others = otherwise_required.iter().filter(|member| !is_of_all(member)).peekable();
        match others.peek().is_some() && !others.any(has) {
            true => Err(self.undistinguished(cases, otherwise_required)),
            false => Ok(None),
        }
    }

    /// Creates the error for an object that has none of the members by which a variant is recognized.
    #[cold]
    fn undistinguished(&self, cases: &[Discriminator], otherwise_required: &[&'static str]) -> DecodeError {
        let quoted = |members: &[&str]| format!("`{}`", members.join("`, `"));
        let with = |case: &Discriminator| quoted(&[&[case.member], case.required].concat());
        let mut variants: Vec<_> = cases.iter().map(with).collect();
        variants.push(quoted(otherwise_required));
        let expected = format!("an object with {}", variants.join(", or with "));
        let kind = DecodeErrorKind::MissingMember;
        DecodeError::new(kind, expected, "another object", self.position)
    }

    /// Looks ahead into a member of the next object. Returns `None` if it has no such member. The cursor doesn't move.
    ///
    /// # Errors
    /// When the next value isn't an object, or `look` fails.
    pub fn peek_into<T>(&mut self, member: &str, look: impl FnOnce(&mut Self) -> Decoded<T>) -> Decoded<Option<T>> {
        self.peek(|reader| {
            reader.seek(|key| key == member)?;
            if reader.at_end {
                return Ok(None);
            }
            look(reader.reader).map(Some).map_err(|error| error.in_member(member))
        })
    }

    pub(super) fn peek<T>(&mut self, look: impl FnOnce(&mut LookAhead<'_, 'a>) -> Decoded<T>) -> Decoded<T> {
        let (position, depth, remembered) = (self.position, self.depth, self.remembered_count());
        let first = self.open_object()?;
        let looked = look(&mut LookAhead {
            reader: self,
            first,
            at_end: false,
        });
        (self.position, self.depth) = (position, depth);
        self.forget(remembered);
        looked
    }
}

/// The next object while the reader looks ahead into it. The cursor goes back afterwards.
pub(super) struct LookAhead<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) first: bool,
    at_end: bool,
}

impl LookAhead<'_, '_> {
    /// Goes to the value of the first member whose name `wanted` accepts, or to the end of the object.
    fn seek(&mut self, mut wanted: impl FnMut(&str) -> bool) -> Decoded<()> {
        while let Some(key) = self.reader.next_key(&mut self.first)? {
            if wanted(&key) {
                return Ok(());
            }
            self.reader.skip().map_err(|error| error.in_member(&key))?;
        }
        self.at_end = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_constants_have_equal_json() {
        let peek = |json: &str, types: &[JsonType]| {
            let text = format!(r#"{{"a": {{}}, "tag": {json}, "tag": null}}"#);
            let mut reader = Reader::new(&text);
            let found = reader
                .peek_constant("tag", types)
                .map(|found| found.map(Cow::into_owned));
            assert_eq!(reader.position(), 0);
            found.map_err(|error| error.to_string())
        };
        for (json, constant) in [
            ("true", "true"),
            ("false", "false"),
            (r#""true""#, r#""true""#),
            (r#""\u0061\/\"\n""#, r#""a/\"\n""#),
            ("1", "1"),
            ("1.0", "1"),
            ("-10e-1", "-1"),
            ("-0", "0"),
            ("1.5", "1.5"),
            ("1e40", "1e40"),
            ("[true]", "[true]"),
        ] {
            assert_eq!(peek(json, &[]).unwrap().as_deref(), Some(constant), "{json}");
        }
        let types = [JsonType::Boolean, JsonType::Number];
        assert_eq!(peek("1.0", &types).unwrap().as_deref(), Some("1"));
        let refused = peek(r#""true""#, &types).unwrap_err();
        assert!(
            refused.contains("expected a boolean or a number, found a string"),
            "{refused}"
        );
        assert_eq!(Reader::new("{}").peek_constant("tag", &types).unwrap(), None);
    }
}
