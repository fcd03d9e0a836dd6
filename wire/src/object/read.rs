//! Reading the members of an object.

use std::borrow::Cow;
use std::fmt;

use mcp_json_schema::JsonType;

use super::constant::Constant;
use crate::decode::Decode;
use crate::error::{DecodeError, Decoded};
use crate::map::Extra;
use crate::open::RawJson;
use crate::preset::Preset;
use crate::reader::{Envelope, Reader};

/// A member that a type declares, and the variable that its value is read into.
pub struct Member<'f> {
    name: &'static str,
    kind: Kind,
    field: &'f mut dyn Field,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Required,
    Optional,
    Constant(Constant),
}

impl<'f> Member<'f> {
    /// Creates a member that must be present.
    pub fn required<T: Decode>(name: &'static str, field: &'f mut Option<T>) -> Self {
        let kind = Kind::Required;
        Self { name, kind, field }
    }

    /// Creates a member that must be present, and that has the same value in many objects.
    pub fn preset<T>(name: &'static str, field: &'f mut Preset<T>) -> Self
    where
        Preset<T>: Field,
    {
        let kind = Kind::Required;
        Self { name, kind, field }
    }

    /// Creates a member that can be absent. If its type doesn't allow `null`, a `null` is kept as an undeclared member,
    /// because some peers send it.
    pub fn optional<T: Decode>(name: &'static str, field: &'f mut Option<T>) -> Self {
        let kind = Kind::Optional;
        Self { name, kind, field }
    }

    /// Creates a member whose value is the same in every object of the type. Its field is whether the member is
    /// present. Another value is kept as an undeclared member, which `validate` reports.
    pub fn constant(name: &'static str, value: impl Into<Constant>, field: &'f mut bool) -> Self {
        let kind = Kind::Constant(value.into());
        Self { name, kind, field }
    }

    fn read(&mut self, reader: &mut Reader<'_>, extra: &mut Extra) -> Decoded<()> {
        if self.field.is_present() {
            return Err(reader.duplicate(self.name));
        }
        let in_member = |error: DecodeError| error.in_member(self.name);
        match self.kind {
            Kind::Required => self.field.read(reader).map_err(in_member),
            // A second `null` is found when the names of the kept members are compared.
            Kind::Optional if !self.field.holds_null() && reader.json_type().map_err(in_member)? == JsonType::Null => {
                extra.keep(self.name.into(), reader)
            }
            Kind::Optional if extra.contains_key(self.name) => Err(reader.duplicate(self.name)),
            Kind::Optional => self.field.read(reader).map_err(in_member),
            Kind::Constant(constant) => {
                if matches!(constant, Constant::String(method) if reader.skip_known_method(method)) {
                    self.field.mark_present();
                    return Ok(());
                }
                let rest = reader.rest();
                self.field.read(reader).map_err(in_member)?;
                let value = rest[..rest.len() - reader.rest().len()].trim_ascii_start();
                if constant.is(value) {
                    return Ok(());
                }
                extra.read(self.name.into(), RawJson::of_json(value), reader)
            }
        }
    }
}

impl fmt::Debug for Member<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut member = f.debug_struct("Member");
        member
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// A variable that a member's value is read into.
pub trait Field {
    /// Whether the member has been read.
    fn is_present(&self) -> bool;

    /// Whether the variable can hold a `null`.
    fn holds_null(&self) -> bool;

    /// Reads the value.
    ///
    /// # Errors
    /// When the variable can't hold it.
    fn read(&mut self, reader: &mut Reader<'_>) -> Decoded<()>;

    /// Marks a constant as present, whose value has been compared and skipped.
    fn mark_present(&mut self) {}
}

impl<T: Decode> Field for Option<T> {
    fn is_present(&self) -> bool {
        self.is_some()
    }

    fn holds_null(&self) -> bool {
        T::HOLDS_NULL
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Decoded<()> {
        *self = Some(reader.decode()?);
        Ok(())
    }
}

/// Whether a constant is present. Its value is compared by [`Member`].
impl Field for bool {
    fn is_present(&self) -> bool {
        *self
    }

    fn holds_null(&self) -> bool {
        true
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Decoded<()> {
        self.mark_present();
        reader.skip()
    }

    fn mark_present(&mut self) {
        *self = true;
    }
}

impl Reader<'_> {
    /// Reads the next object: the members that a type declares into their fields, and all others into the [`Extra`]
    /// that is returned. The caller checks that required members are present; [`missing`](Self::missing) is the error.
    ///
    /// # Errors
    /// When the next value isn't an object, a field can't hold the value of its member, or a member occurs twice.
    pub fn object(&mut self, declared: &mut [Member<'_>]) -> Decoded<Extra> {
        let mut first = self.open_object()?;
        let is_message = self.envelope.as_mut().is_some_and(Envelope::open);
        let mut extra = Extra::new();
        // Most objects have their members in the order in which the type declares them.
        let mut next = 0;
        let is_foreseen = |member: &Member<'_>| !is_message || !Envelope::has_member(member.name);
        loop {
            let at = match declared.get(next).filter(|member| is_foreseen(member)) {
                Some(member) if self.next_key_is(&mut first, member.name) => next,
                _ => {
                    let Some(key) = self.next_key(&mut first)? else { break };
                    if is_message && Envelope::has_member(&key) {
                        self.envelope_member(&key)?;
                        continue;
                    }
                    let Some(at) = position_of(&key, declared, next) else {
                        match self.open_member {
                            Some(_) => self.skip()?,
                            None => extra.keep(key, self)?,
                        }
                        continue;
                    };
                    at
                }
            };
            let member = &mut declared[at];
            let open = self.open_member.take_if(|open| *open == member.name);
            member.read(self, &mut extra)?;
            self.open_member = self.open_member.or(open);
            next = at + 1;
        }
        self.check_names(extra.iter().map(|(member, _)| member))?;
        Ok(extra)
    }
}

/// Returns the position of a member. The search starts at `next`, and ends with the members before it.
fn position_of(key: &str, declared: &[Member<'_>], next: usize) -> Option<usize> {
    let (passed, ahead) = declared.split_at(next);
    let is_it = |member: &Member<'_>| member.name == key;
    let at = ahead.iter().position(is_it).map(|at| next + at);
    at.or_else(|| passed.iter().position(is_it))
}

impl Extra {
    /// Appends the next value as a member that the type doesn't declare.
    fn keep(&mut self, member: Cow<'_, str>, reader: &mut Reader<'_>) -> Decoded<()> {
        let value = RawJson::decode(reader).map_err(|error| error.in_member(&member))?;
        self.read(member, value, reader)
    }
}
