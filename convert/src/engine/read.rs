//! Reading and checking JSON as a type of a table, as a tree where conversions look into it.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use mcp_wire::{Decoded, JsonType, MessageHeader, Reader, SharedJson};
use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem::{Finder, FinderBuilder};

use super::check::{UNKNOWN_METHOD, check, is_absent, is_constant, unknown, variant};
use super::choose::{message, of_method};
use super::effects::{Effects, MemberEffects};
use super::node::{Entry, Node};
use super::seen::Seen;
use crate::tables::Table;
use crate::tables::types::{Kind, Member, MemberValue, ObjectType, TypeId, TypeRef, Union};

/// The treatment of `null` in an optional member whose type doesn't allow it. Many implementations write it for an
/// absent member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    Kept,
    /// The member is left out. All objects with a `null` in them are read as trees.
    LeftOut,
    /// The same, but inside a union, a variant with such a member isn't chosen.
    Refused,
}

/// Returns the members to add to an object that lacks them, by their bits from [`Effects::lacking`]. `None` if the
/// object has to be read as a tree.
pub(super) type Add<'t> = &'t dyn Fn(&Effects, u64) -> Option<Arc<SharedJson>>;

/// Options of reading: the parts to read as trees, and whether to check the others.
#[derive(Clone, Copy)]
pub(crate) struct Read<'t> {
    pub(crate) table: &'t Table,
    /// The look at each type. Values of a type without one are read as text.
    pub(crate) all_effects: &'t [Option<Effects>],
    /// Whether the parts that are read as text are checked. If not, the decoder of the result checks them.
    pub(crate) checks: bool,
    pub(crate) nulls: Nulls,
    /// The number of levels of nesting at which it is still tried to keep a value as text.
    pub(crate) tries: u8,
    /// Adds members to objects whose other members stay as they are or are removed. Without it, such objects are read
    /// as trees.
    pub(crate) adding: Option<Add<'t>>,
}

/// The number by which the changed elements of a list can exceed the kept ones until it is no longer tried to keep the
/// next one.
const FEW: usize = 4;

/// The maximum size in bytes of a result that it is tried to keep as a whole, and not only the values in it. Known
/// strings don't count.
const SHORT: usize = 1 << 12;

impl<'t> Read<'t> {
    /// Opens one object, and leaves the values in it as text.
    pub(crate) fn open(table: &'t Table) -> Self {
        Self {
            table,
            all_effects: &[],
            checks: false,
            nulls: Nulls::Kept,
            tries: 0,
            adding: None,
        }
    }

    /// Reads objects as trees if members are added or removed in them.
    fn unedited(self) -> Self {
        Self { adding: None, ..self }
    }

    /// Reads a value in which nothing is changed, even if its types are changed elsewhere.
    pub(super) fn unlooked(self) -> Self {
        Self {
            all_effects: &[],
            adding: None,
            ..self
        }
    }

    pub(super) fn is_opened(self, ty: &TypeRef) -> bool {
        matches!(ty.innermost(), TypeRef::Named(id) if self.effects(*id).is_some())
    }

    pub(super) fn effects(self, id: TypeId) -> Option<&'t Effects> {
        self.all_effects.get(id)?.as_ref()
    }

    /// Reads a value. `look` is what its conversions look at, if it is an object.
    pub(crate) fn looked_at<'a>(
        self,
        reader: &mut Reader<'a>,
        ty: &TypeRef,
        effects: Option<&Effects>,
    ) -> Decoded<Node<'a>> {
        match (self.table.kind(ty), effects) {
            (Some(Kind::Object(object)), Some(effects)) if self.is_opened(ty) => {
                let is_short = || reader.parts_to_look_at().map(str::len).sum::<usize>() <= SHORT;
                let is_short = self.tries > 0 && is_short();
                match is_short.then(|| self.kept_object(reader, object, effects)).flatten() {
                    Some(kept) => Ok(kept),
                    None => self.object(reader, object, Some(effects)),
                }
            }
            _ => self.value(reader, ty),
        }
    }

    /// Reads a message. `header` has its method and its header, if they are known. `is_by_type` is whether only the
    /// conversions of its type change it.
    pub(crate) fn message<'a>(
        self,
        reader: &mut Reader<'a>,
        ty: &TypeRef,
        header: Option<(&Cow<'_, str>, &MessageHeader<'_>)>,
        is_by_type: bool,
    ) -> Decoded<Node<'a>> {
        let ty = self.table.resolve(ty);
        let message = match (self.table.kind(ty), header) {
            (Some(Kind::Methods(methods)), Some((method, header))) if self.is_opened(ty) => {
                // A method with escapes isn't the constant of its type.
                let header = matches!(method, Cow::Borrowed(_)).then_some(header);
                of_method(methods, method).map(|message| (*message, header))
            }
            _ => None,
        };
        match message {
            Some((message, header)) if is_by_type => {
                let kept = header.and_then(|header| self.kept_message(reader, message, header));
                kept.map_or_else(|| self.value(reader, &TypeRef::Named(message)), Ok)
            }
            Some((message, _)) => self.unedited().named(reader, message),
            None => self.unedited().value(reader, ty),
        }
    }

    /// Reads the next value.
    pub(crate) fn value<'a>(mut self, reader: &mut Reader<'a>, ty: &TypeRef) -> Decoded<Node<'a>> {
        let ty = self.table.resolve(ty);
        if !self.is_opened(ty) {
            if let Some(text) = self.unopened(reader, ty)? {
                return Ok(Node::text(text));
            }
            self = self.unlooked();
        }
        let is_tagged_union =
            matches!(ty, TypeRef::Named(id) if self.effects(*id).is_some_and(Effects::is_tagged_union));
        if !is_tagged_union && let Some(tries) = self.tries.checked_sub(1) {
            return match self.kept(reader, ty) {
                Some(kept) => Ok(kept),
                None => Self { tries, ..self }.tree(reader, ty),
            };
        }
        self.tree(reader, ty)
    }

    /// Reads the next value as a tree.
    fn tree<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Decoded<Node<'a>> {
        match ty {
            TypeRef::List(inner) => {
                let mut elements = Vec::new();
                let (mut kept, mut changed) = (0, 0);
                reader.array(|reader| {
                    // If most elements are changed, trying costs more than reading trees.
                    let tries = if changed > kept + FEW { 0 } else { self.tries };
                    let element = Self { tries, ..self }.value(reader, inner)?;
                    *(if element.is_kept() { &mut kept } else { &mut changed }) += 1;
                    reader.push(&mut elements, element)
                })?;
                Ok(Node::Array(elements))
            }
            TypeRef::Map(inner) => {
                let mut entries = Vec::new();
                reader.members(|reader, name| {
                    let value = self.value(reader, inner).map_err(|error| error.in_member(&name))?;
                    reader.push(&mut entries, Entry::declared(name, value))
                })?;
                reader.check_names(entries.iter().map(|entry: &Entry<'_>| &*entry.name))?;
                Ok(Node::Object(entries))
            }
            TypeRef::Nullable(inner) => match reader.json_type()? {
                JsonType::Null => reader.raw().map(Node::text),
                _ => self.value(reader, inner),
            },
            TypeRef::Named(id) => self.named(reader, *id),
            _ => self.text(reader, ty).map(Node::text),
        }
    }

    /// Reads a value that no step looks into as text. Returns `None` if it may have a `null` that is left out; the
    /// cursor doesn't move then.
    pub(super) fn unopened<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Decoded<Option<&'a str>> {
        if self.nulls == Nulls::Kept || !matches!(ty.innermost(), TypeRef::Named(_)) {
            return self.text(reader, ty).map(Some);
        }
        Ok(reader.attempt(|reader| {
            let (text, may_have_null) = match self.checks {
                true => (self.text(reader, ty).ok()?, true),
                false => reader.raw_with_nulls().ok()?,
            };
            (!may_have_null || !mentions_null(text)).then_some(text)
        }))
    }

    fn named<'a>(self, reader: &mut Reader<'a>, id: TypeId) -> Decoded<Node<'a>> {
        match &self.table.types[id].kind {
            Kind::Object(object) => self.object(reader, object, self.effects(id)),
            Kind::Union(union) => match self.variant(reader, id, union)? {
                Some(value) => Ok(value),
                None => unknown(reader).map(|text| Node::Unknown(Cow::Borrowed(text))),
            },
            Kind::Methods(methods) => match message(reader, methods)? {
                // A message of a method that a revision lacks is carried as it is.
                Some(message) => self.unedited().named(reader, message),
                None => self.object(reader, &UNKNOWN_METHOD, None),
            },
            _ => self.text(reader, &TypeRef::Named(id)).map(Node::text),
        }
    }

    /// Reads a variant of a union. A `null` that is left out of one can be a value of another.
    fn variant<'a>(self, reader: &mut Reader<'a>, id: TypeId, union: &Union) -> Decoded<Option<Node<'a>>> {
        let read = |nulls: Nulls| {
            move |reader: &mut Reader<'a>| {
                let read = Self { nulls, ..self };
                let value = |reader: &mut Reader<'a>, at: usize| {
                    // The look at the variant's own type doesn't include the changes of the union.
                    let changes = |effects: &Effects| effects.changes_variant(at) || effects.validates_variants;
                    let changes = self.effects(id).is_some_and(changes);
                    let tries = if changes { 0 } else { read.tries };
                    Self { tries, ..read }.value(reader, &union.variants[at].ty)
                };
                variant(self.table, reader, id, union, value)
            }
        };
        match self.nulls {
            Nulls::LeftOut => match reader.attempt(|reader| read(Nulls::Refused)(reader).ok()) {
                Some(value) => Ok(value),
                None => read(Nulls::LeftOut)(reader),
            },
            nulls => read(nulls)(reader),
        }
    }

    /// Reads the next object, and its members by their types.
    pub(crate) fn object<'a>(
        self,
        reader: &mut Reader<'a>,
        object: &ObjectType,
        effects: Option<&Effects>,
    ) -> Decoded<Node<'a>> {
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(object.members.len().min(8));
        let mut members = Seen::new(object);
        let mut is_first = reader.open_object()?;
        while let Some((name, at)) = members.next_key(reader, &mut is_first)? {
            let member_effects = at.zip(effects).and_then(|(at, effects)| effects.members.get(at));
            let needs_tree = member_effects.is_some_and(MemberEffects::needs_tree);
            let tries = if needs_tree { 0 } else { self.tries };
            let read = Self {
                tries,
                ..self.within(member_effects)
            };
            let member = at.and_then(|at| object.members.get(at));
            let read = read.member(reader, member);
            let (declared, value) = read.map_err(|error| error.in_member(&name))?;
            reader.push(&mut entries, Entry { name, declared, value })?;
        }
        if !members.are_distinct() {
            reader.check_names(entries.iter().map(|entry| &*entry.name))?;
        }
        if self.nulls == Nulls::LeftOut {
            entries.retain(|entry| entry.declared || !self.means_absence(object, entry));
        }
        let mut missing = members
            .missing()
            .filter(|name| !entries.iter().any(|entry| entry.name == *name));
        match missing.next() {
            Some(name) => Err(reader.missing(name)),
            None => Ok(Node::Object(entries)),
        }
    }

    /// Whether a member is a `null` that means its absence: it is optional, and its type doesn't allow `null`.
    fn means_absence(self, object: &ObjectType, entry: &Entry<'_>) -> bool {
        let member = object.member(&entry.name).filter(|member| !member.required);
        let ty = member.and_then(Member::ty).map(|ty| self.table.resolve(ty));
        ty.is_some_and(|ty| !self.holds_null(ty)) && entry.value.is_null()
    }

    fn holds_null(self, ty: &TypeRef) -> bool {
        let TypeRef::Named(id) = ty else { return ty.holds_null() };
        match &self.table.types[*id].kind {
            Kind::Union(union) => {
                let mut variants = union.variants.iter();
                variants.any(|variant| variant.json_type == JsonType::Null)
            }
            _ => false,
        }
    }

    /// Returns the options for reading the value of a member.
    pub(super) fn within(self, member_effects: Option<&MemberEffects>) -> Self {
        // A value that is checked by the schema of a revision must have the members of that revision.
        match member_effects.is_some_and(MemberEffects::is_checked) {
            true => self.unedited(),
            false => self,
        }
    }

    /// Reads a member. The first value of the result is whether it counts as declared.
    fn member<'a>(self, reader: &mut Reader<'a>, member: Option<&Member>) -> Decoded<(bool, Node<'a>)> {
        let Some(member) = member else {
            return Ok((false, Node::text(reader.raw()?)));
        };
        match &member.value {
            MemberValue::Constant(constant) => {
                let text = reader.raw()?;
                Ok((is_constant(text, constant), Node::text(text)))
            }
            MemberValue::Of(ty) if is_absent(reader, member.required, self.table.resolve(ty))? => match self.nulls {
                Nulls::Refused => Err(reader.wrong_type("a value", JsonType::Null)),
                Nulls::Kept | Nulls::LeftOut => Ok((false, Node::text(reader.raw()?))),
            },
            MemberValue::Of(ty) => Ok((true, self.value(reader, ty)?)),
        }
    }

    /// Returns the text of the next value, which is checked if the options require that.
    fn text<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Decoded<&'a str> {
        if self.checks {
            reader.text_of(|reader| check(self.table, reader, ty))
        } else {
            reader.raw()
        }
    }
}

/// Whether a text contains `null`, even within a string. Each message is searched as a whole, and memchr searches many
/// bytes at a time.
pub(super) fn mentions_null(text: &str) -> bool {
    // Creating a searcher takes longer than searching the text between two strings.
    static NULL: LazyLock<Finder<'static>> =
        LazyLock::new(|| FinderBuilder::new().build_forward_with_ranker(RareInText, "null"));
    NULL.find(text.as_bytes()).is_some()
}

/// Ranks of the letters of `null` that make the search look for `n` and `l`: many words have `ul` in them.
struct RareInText;

impl HeuristicFrequencyRank for RareInText {
    fn rank(&self, byte: u8) -> u8 {
        match byte {
            b'u' => u8::MAX,
            _ => 0,
        }
    }
}
