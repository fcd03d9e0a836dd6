//! Reading the variant of a union that a tag names, where the schema leaves room for another one.

use super::Reader;
use crate::error::{DecodeError, Decoded};
use crate::schema::Schema;

/// Where a reader was: its position, its depth, its budget of memory, and how many values it remembered.
type Mark = (usize, usize, usize, usize);

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
        let start = self.mark();
        match read(self) {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.go_back(start);
                self.check_accepted(error, schema, pointer).map(|()| None)
            }
        }
    }

    /// Reads the next value, or nothing if `read` returns none.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.mark();
        let value = read(self);
        if value.is_none() {
            self.go_back(start);
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
        let start = self.mark();
        let text = self.raw();
        self.go_back(start);
        match (text, schema.validator_at(pointer)) {
            (Ok(text), Ok(validator)) if validator.accepts(pointer, text) => Ok(()),
            _ => Err(error),
        }
    }

    #[inline]
    fn mark(&self) -> Mark {
        (self.position, self.depth, self.budget, self.remembered_count())
    }

    /// Goes back to where the reader was. What was read since is gone, and so is the memory that it took.
    fn go_back(&mut self, (position, depth, budget, remembered): Mark) {
        (self.position, self.depth, self.budget) = (position, depth, budget);
        self.forget(remembered);
    }
}
