//! Reading the variant of a union that a tag names, where the schema leaves room for another one.

use super::Reader;
use crate::error::{DecodeError, Decoded};
use crate::schema::Schema;

impl Reader<'_> {
    /// Reads the next value. `None` if it can't be read and a schema accepts it all the same, such as a variant that allows any tag;
    /// the cursor stays before it then.
    ///
    /// # Errors
    /// The error of reading, if the schema doesn't accept the value.
    #[inline]
    pub fn unless_accepted<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Decoded<T>,
        schema: &Schema,
        pointer: &str,
    ) -> Decoded<Option<T>> {
        let start = (self.position, self.depth);
        match read(self) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                (self.position, self.depth) = start;
                self.check_accepted(error, schema, pointer).map(|()| None)
            }
        }
    }

    /// Reads the next value, or nothing if it can't be read.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Decoded<T>) -> Option<T> {
        let start = (self.position, self.depth);
        let value = read(self).ok();
        if value.is_none() {
            (self.position, self.depth) = start;
        }
        value
    }

    /// The error of a value that no variant of a union holds, although the schema accepts it.
    pub fn no_variant(&mut self) -> DecodeError {
        match self.json_type() {
            Ok(found) => self.wrong_type("a variant of the union", found),
            Err(error) => error,
        }
    }

    /// The error of reading, unless a schema accepts the next value. The cursor stays.
    #[cold]
    fn check_accepted(&mut self, error: DecodeError, schema: &Schema, pointer: &str) -> Decoded<()> {
        let (position, depth) = (self.position, self.depth);
        let text = self.raw();
        (self.position, self.depth) = (position, depth);
        match (text, schema.validator()) {
            (Ok(text), Ok(validator)) if validator.accepts(pointer, text) => Ok(()),
            _ => Err(error),
        }
    }
}
