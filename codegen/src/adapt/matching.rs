//! Which variant of a union corresponds to which one of another revision: by their tags and members, never by position.

use crate::model::{ConstantMember, Model, Struct, TypeKind, TypeRef, result_variants};
use crate::normalise::Scalar;
use mcp_wire::JsonType;

/// A variant that a value may be held by; a type that is no union is its own only variant.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The variant's name; `None` for a type that stands alone.
    pub name: Option<String>,
    /// What it holds.
    pub ty: TypeRef,
    /// Whether it is held behind a pointer.
    pub boxed: bool,
    /// The JSON type that it is.
    pub kind: Option<JsonType>,
}

impl Candidate {
    /// A type that is no variant of anything.
    pub fn alone(ty: TypeRef) -> Self {
        Self {
            name: None,
            ty,
            boxed: false,
            kind: None,
        }
    }
}

/// The variants of a type.
pub fn candidates(model: &Model, ty: &TypeRef) -> Vec<Candidate> {
    let kind = match ty {
        TypeRef::Named(name) => model.types.get(name).map(|ty| &ty.kind),
        _ => None,
    };
    match kind {
        Some(TypeKind::Union(union)) => {
            let variants = union.variants.iter().map(|variant| Candidate {
                name: Some(variant.name.clone()),
                ty: model.resolve(&variant.ty).clone(),
                boxed: variant.boxed,
                kind: Some(variant.kind),
            });
            variants.collect()
        }
        Some(TypeKind::Results(results)) => {
            let variants = result_variants(results).into_iter().map(|(ty, name)| Candidate {
                name: Some(name),
                ty: model.resolve(&ty).clone(),
                boxed: false,
                kind: Some(JsonType::Object),
            });
            variants.collect()
        }
        _ => vec![Candidate::alone(ty.clone())],
    }
}

/// How well two structs correspond, the best last; `None` if what tells them apart says that they don't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Similarity {
    /// A constant that no other candidate has is the same in both.
    tagged: bool,
    /// The schema has the same name for both.
    named: bool,
    /// How many members both declare.
    common: usize,
}

/// A type of a model.
#[derive(Clone, Copy)]
pub struct Typed<'m> {
    pub model: &'m Model,
    pub ty: &'m TypeRef,
}

impl<'m> Typed<'m> {
    fn official_name(self) -> Option<&'m str> {
        match self.ty {
            TypeRef::Named(name) => Some(self.model.types.get(name)?.documented_as.as_str()),
            _ => None,
        }
    }

    fn structure(self) -> Option<&'m Struct> {
        self.model.struct_of(self.ty)
    }
}

/// How well `from`, which is one of `siblings`, corresponds to `to`, which is one of `others`.
pub fn similarity(from: Typed<'_>, to: Typed<'_>, siblings: &[Candidate], others: &[Candidate]) -> Option<Similarity> {
    let named = from.official_name().is_some() && from.official_name() == to.official_name();
    let (Some(source), Some(target)) = (from.structure(), to.structure()) else {
        let same = from.ty == to.ty || named;
        return Some(Similarity {
            tagged: false,
            named: same,
            common: 0,
        });
    };
    if source
        .constants
        .iter()
        .any(|constant| contradicts(to.model, target, constant))
        || target
            .constants
            .iter()
            .any(|constant| contradicts(from.model, source, constant))
    {
        return None;
    }
    let is_tag = |constant: &&ConstantMember| {
        let is_same = |other: &ConstantMember| other.name == constant.name && other.value == constant.value;
        let holders = |model: &Model, candidates: &[Candidate]| {
            let structs = candidates.iter().filter_map(|other| model.struct_of(&other.ty));
            structs.filter(|other| other.constants.iter().any(is_same)).count()
        };
        target.constants.iter().any(is_same) && holders(to.model, others) == 1 && holders(from.model, siblings) == 1
    };
    let tagged = source.constants.iter().any(|constant| is_tag(&constant));
    let told_apart = source
        .members
        .iter()
        .filter(|member| member.required)
        .map(|member| &member.name)
        .chain(
            source
                .constants
                .iter()
                .filter(|constant| constant.required)
                .map(|constant| &constant.name),
        )
        .all(|name| declares(target, name))
        && target
            .members
            .iter()
            .filter(|member| member.required)
            .all(|member| declares(source, &member.name));
    if !tagged && !told_apart && !named {
        return None;
    }
    let common = source
        .members
        .iter()
        .filter(|member| declares(target, &member.name))
        .count();
    Some(Similarity { tagged, named, common })
}

fn declares(object: &Struct, name: &str) -> bool {
    object.members.iter().any(|member| member.name == name)
        || object.constants.iter().any(|constant| constant.name == name)
}

/// Whether a struct can't have this constant.
fn contradicts(model: &Model, object: &Struct, constant: &ConstantMember) -> bool {
    let mut constants = object.constants.iter();
    if let Some(own) = constants.find(|own| own.name == constant.name) {
        return own.value != constant.value;
    }
    let mut members = object.members.iter();
    let Some(member) = members.find(|member| member.name == constant.name) else {
        return false;
    };
    match (model.resolve(&member.ty), &constant.value) {
        (TypeRef::Named(name), value) => match (model.types.get(name).map(|ty| &ty.kind), value) {
            (Some(TypeKind::Strings { values, .. }), Scalar::String(text)) => !values.contains(text),
            (Some(TypeKind::Union(_)), _) => false,
            _ => true,
        },
        (TypeRef::Any, _) => false,
        (TypeRef::String, Scalar::String(_)) | (TypeRef::Boolean, Scalar::Boolean(_)) => false,
        (TypeRef::Integer | TypeRef::Number, Scalar::Integer(_)) => false,
        _ => true,
    }
}
