//! Sizes of Rust types. A large member is put behind a pointer, so that moving the value it belongs to costs little.

use std::collections::BTreeMap;

use super::type_ref::TypeRef;
use super::types::{Member, Model, Struct, TypeKind};

/// The largest size of a member that isn't behind a pointer, in bytes. A message is moved several times between the
/// reader and its handler, and a union of messages has the size of the largest one.
const LARGEST: usize = 320;

const WORD: usize = 8;
/// A `String`, a `Vec`, and the types that contain one.
const TEXT: usize = 3 * WORD;
/// JSON that no type describes.
const RAW: usize = 2 * WORD;
/// A map, such as the one of the undeclared members.
const MAP: usize = WORD;

/// The depth to which types are measured. Types that contain each other more deeply are refused later.
const DEEPEST: usize = 128;

/// Marks every member of structs that is larger than [`LARGEST`].
pub(crate) fn mark_large_members(model: &mut Model) {
    let measured = model.clone();
    let mut sizes = Sizes {
        model: &measured,
        known: BTreeMap::new(),
        depth: 0,
    };
    for ty in model.types.values_mut() {
        if let TypeKind::Struct(object) = &mut ty.kind {
            for member in &mut object.members {
                member.large = sizes.is_large(member);
            }
        }
    }
}

/// Estimates sizes on a 64-bit machine: the compiler may find a smaller layout.
struct Sizes<'m> {
    model: &'m Model,
    known: BTreeMap<String, usize>,
    depth: usize,
}

impl Sizes<'_> {
    fn of(&mut self, ty: &TypeRef) -> usize {
        match ty {
            TypeRef::Named(name) => self.of_named(name),
            TypeRef::RequestId | TypeRef::String | TypeRef::Number | TypeRef::List(_) => TEXT,
            TypeRef::Boolean | TypeRef::Null => 1,
            TypeRef::Integer => WORD,
            TypeRef::Any | TypeRef::RawObject => RAW,
            TypeRef::Map(_) => MAP,
            TypeRef::Nullable(inner) => self.of(inner),
        }
    }

    fn of_named(&mut self, name: &str) -> usize {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        if self.depth == DEEPEST {
            return WORD;
        }
        self.depth += 1;
        let model = self.model;
        let size = match model.kind(name) {
            Some(TypeKind::Struct(object)) => self.of_struct(object),
            Some(TypeKind::Union(union)) => {
                let variants = union.variants.iter();
                let sizes = variants.map(|variant| match variant.boxed {
                    true => WORD,
                    false => self.of(&variant.ty),
                });
                WORD + sizes.max().unwrap_or_default()
            }
            Some(TypeKind::Alias(target)) => self.of(target),
            Some(TypeKind::Strings(_) | TypeKind::Methods(_) | TypeKind::Results(_)) | None => TEXT,
        };
        self.depth -= 1;
        self.known.insert(name.to_owned(), size);
        size
    }

    fn is_large(&mut self, member: &Member) -> bool {
        !member.recursive && self.of(&member.ty) > LARGEST
    }

    /// Returns the size of a struct whose large members are behind pointers.
    fn of_struct(&mut self, object: &Struct) -> usize {
        let members = object.members.iter();
        let members = members.map(|member| match member.recursive || self.is_large(member) {
            true => WORD,
            false => self.of(&member.ty),
        });
        let sum: usize = members.sum();
        (MAP + object.constants.len() + sum).next_multiple_of(WORD)
    }
}
