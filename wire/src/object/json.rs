//! Writing objects as JSON text.

use std::convert::Infallible;

use serde_core::Serialize;

use super::name::Name;
use super::write::{Object, ObjectWriter, write_object};
use crate::encode::{Encode, JsonWriter};
use crate::map::Map;

impl JsonWriter {
    /// Writes an object, whose members `members` writes.
    pub(crate) fn object(&mut self, members: impl FnOnce(&mut JsonObject<'_>) -> Result<(), Infallible>) {
        let begun = self.json.begin();
        self.raw("{");
        let mut object = JsonObject {
            json: self,
            is_empty: true,
        };
        let Ok(()) = members(&mut object);
        self.raw("}");
        self.json.end(begun);
    }
}

/// Writes an object of a declared type.
pub fn encode_object<T: Object>(object: &T, json: &mut JsonWriter) {
    json.object(|members| write_object(object, members));
}

/// A JSON object that is open.
#[derive(Debug)]
pub(crate) struct JsonObject<'w> {
    json: &'w mut JsonWriter,
    is_empty: bool,
}

impl ObjectWriter for JsonObject<'_> {
    type Error = Infallible;

    fn key(&mut self, member: &str) -> Result<(), Infallible> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.json.raw(",");
        }
        self.json.name(member);
        Ok(())
    }

    fn declared_key(&mut self, member: Name) -> Result<(), Infallible> {
        let Some(written) = member.written() else {
            return self.key(member.text());
        };
        let is_first = std::mem::replace(&mut self.is_empty, false);
        self.json.raw(&written[usize::from(is_first)..]);
        Ok(())
    }

    fn value<T: Encode + Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Infallible> {
        self.json.value(value);
        Ok(())
    }
}

impl<T: Encode + Serialize> Encode for Map<T> {
    fn encode(&self, json: &mut JsonWriter) {
        json.object(|members| self.iter().try_for_each(|(key, value)| members.member(key, value)));
    }
}
