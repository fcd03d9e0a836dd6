//! Reading the variant of a union that a tag names, where the schema may also allow another one.

use super::Reader;
use crate::error::{DecodeError, Decoded};
use crate::schema::Schema;
use crate::validate::is_valid;

/// An earlier state of a reader: its position, depth and memory budget, and the number of remembered values.
type Mark = (usize, usize, usize, usize);

impl Reader<'_> {
    /// Reads the next value. Returns `None` if it can't be read, but a schema accepts it, such as a variant that allows
    /// any tag. The cursor doesn't move then.
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

    /// Reads the next value. If `read` returns `None`, the cursor doesn't move.
    pub fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let start = self.mark();
        let value = read(self);
        if value.is_none() {
            self.go_back(start);
        }
        value
    }

    /// Creates the error of a value that no variant of a union can represent, although the schema accepts it.
    pub fn no_variant(&mut self) -> DecodeError {
        match self.json_type() {
            Ok(found) => self.wrong_type("a variant of the union", found),
            Err(error) => error,
        }
    }

    /// Returns the error of reading, unless a schema accepts the next value. The cursor doesn't move.
    #[cold]
    fn check_accepted(&mut self, error: DecodeError, schema: &Schema, pointer: &str) -> Decoded<()> {
        let start = self.mark();
        let text = self.raw();
        self.go_back(start);
        match (text, schema.validator_at(pointer)) {
            (Ok(text), Ok(validator)) if is_valid(text, pointer, &validator) => Ok(()),
            _ => Err(error),
        }
    }

    #[inline]
    fn mark(&self) -> Mark {
        (self.position, self.depth, self.budget, self.remembered_count())
    }

    /// Goes back to an earlier state. The memory of the values that were read since is no longer charged.
    fn go_back(&mut self, (position, depth, budget, remembered): Mark) {
        (self.position, self.depth, self.budget) = (position, depth, budget);
        self.forget(remembered);
    }
}
