//! The model of a revision and its types.

use std::collections::BTreeMap;

use mcp_json_schema::{JsonType, pointer};
use mcp_wire::error_code;
use serde::Serialize;
use serde_json::Value;

use crate::messages::MessageKind;
use crate::normalise::{Scalar, Strings};
use crate::overlay::{Deprecation, ErrorCode};

use super::decide::{Decision, single_tags};
use super::lifecycle::{Lifecycle, Members};
use super::method::Method;
use super::type_ref::TypeRef;
use super::type_schema::TypeSchema;

/// The codes of errors that JSON-RPC defines.
pub(crate) const JSON_RPC_CODES: [i64; 5] = [
    error_code::PARSE_ERROR,
    error_code::INVALID_REQUEST,
    error_code::METHOD_NOT_FOUND,
    error_code::INVALID_PARAMS,
    error_code::INTERNAL_ERROR,
];

/// A revision, ready to be written as Rust.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Model {
    pub(crate) revision: String,
    /// Every type by its Rust name.
    pub(crate) types: BTreeMap<String, Type>,
    /// Every definition of the schema by its official name.
    pub(crate) definitions: BTreeMap<String, Definition>,
    /// The methods, requests first, in the order of their names.
    pub(crate) methods: Vec<Method>,
    /// Whether peers can send several messages in one array.
    pub(crate) batches: bool,
    /// Whether an error response can lack the id.
    pub(crate) errors_without_id: bool,
    pub(crate) error_codes: Vec<ErrorCode>,
    /// The members of the data of errors with a role, by the codes of the errors.
    #[serde(skip)]
    pub(crate) error_data: BTreeMap<i64, Members>,
    /// Deprecated features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deprecated: Vec<Deprecation>,
    /// The changes since the revision before, in a few sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) summary: Vec<String>,
    pub(crate) lifecycle: Lifecycle,
    /// The name of the type at each position, from which earlier revisions take names that their schemas lack.
    #[serde(skip)]
    pub(crate) positions: BTreeMap<String, String>,
    /// The Rust name of the type at each pointer of the schema that became a separate type.
    #[serde(skip)]
    pub(crate) places: BTreeMap<String, String>,
}

/// A Rust type.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Type {
    /// The key of its documentation: the official name, or the Rust name of an unnamed type.
    pub(crate) documented_as: String,
    /// Whether the schema gives it a name.
    pub(crate) official: bool,
    /// Whether it is a type of the revision that an extension extends, which the extension's crate doesn't define.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) imported: bool,
    /// The pointer of its schema.
    pub(crate) pointer: String,
    pub(crate) module: String,
    /// The schema's own description, in checkouts that keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The requirements of the schema that the type doesn't express.
    #[serde(skip)]
    pub(crate) schema: TypeSchema,
    #[serde(flatten)]
    pub(crate) kind: TypeKind,
}

impl Type {
    /// A type without a place in the schema and in the crate.
    pub(super) fn new(documented_as: &str, kind: TypeKind) -> Self {
        Self {
            documented_as: documented_as.to_owned(),
            official: false,
            imported: false,
            pointer: String::new(),
            module: String::new(),
            description: None,
            schema: TypeSchema::default(),
            kind,
        }
    }
}

/// The kind of a Rust type.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TypeKind {
    Struct(Struct),
    Strings(Strings),
    Union(Union),
    Alias(TypeRef),
    /// One of several requests or notifications: the methods and the types.
    Methods(Vec<(String, String)>),
    /// One of several results: the possible results by method.
    Results(Vec<(String, Vec<TypeRef>)>),
}

/// An object with declared members.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Struct {
    /// The members that have the same value in every instance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) constants: Vec<ConstantMember>,
    /// The members whose value varies.
    pub(crate) members: Vec<Member>,
}

/// A member with one value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ConstantMember {
    pub(crate) name: String,
    pub(crate) value: Scalar,
    pub(crate) required: bool,
}

/// A member whose value varies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The name of its field, if the overlay defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) field: Option<String>,
    #[serde(rename = "type")]
    pub(crate) ty: TypeRef,
    pub(crate) required: bool,
    /// The value that distinguishes the object from others, though the schema allows more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
    /// The value that constructors give it, instead of having a parameter for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) preset: Option<Value>,
    /// Whether the value can contain the type that it is a member of.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) recursive: bool,
    /// Whether the value is large.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) large: bool,
    /// The schema's own description, in checkouts that keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// One of several shapes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Union {
    pub(crate) variants: Vec<Variant>,
    /// The rule that identifies the variant of an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) objects: Option<Decision>,
}

/// A variant of a union.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Variant {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) ty: TypeRef,
    pub(crate) kind: JsonType,
    /// Whether it must be behind a pointer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) boxed: bool,
}

/// A definition of the schema.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Definition {
    pub(crate) pointer: String,
    #[serde(rename = "type")]
    pub(crate) ty: TypeRef,
    /// The envelope around the type in an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) envelope: Option<MessageKind>,
}

impl TypeKind {
    /// Returns the types that a value can directly consist of.
    pub(super) fn parts(&self) -> Vec<TypeRef> {
        match self {
            Self::Struct(object) => object.members.iter().map(|member| member.ty.clone()).collect(),
            Self::Strings(_) => Vec::new(),
            Self::Union(union) => union.variants.iter().map(|variant| variant.ty.clone()).collect(),
            Self::Alias(target) => vec![target.clone()],
            Self::Methods(methods) => methods.iter().map(|(_, ty)| TypeRef::Named(ty.clone())).collect(),
            Self::Results(methods) => methods.iter().flat_map(|(_, results)| results).cloned().collect(),
        }
    }
}

impl Struct {
    /// Returns the member of this name, if its value varies.
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns the member of this name, if it has the same value in every instance.
    pub(crate) fn constant(&self, name: &str) -> Option<&ConstantMember> {
        self.constants.iter().find(|constant| constant.name == name)
    }

    /// Returns the text that the member of this name has in every instance, if it has one.
    pub(super) fn constant_text(&self, name: &str) -> Option<&str> {
        self.constant(name)?.value.text()
    }

    /// Returns the names of the required members whose value varies.
    pub(crate) fn required(&self) -> impl Iterator<Item = &String> {
        let required = self.members.iter().filter(|member| member.required);
        required.map(|member| &member.name)
    }

    /// Returns the names of its members, constant or not.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let constants = self.constants.iter().map(|constant| constant.name.as_str());
        constants.chain(self.members.iter().map(|member| member.name.as_str()))
    }

    /// Whether there is a member of this name, constant or not.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }
}

impl Member {
    /// Whether constructors have a parameter for it.
    pub(crate) fn is_argument(&self) -> bool {
        self.required && self.preset.is_none()
    }

    /// Whether the value is behind a pointer.
    pub(crate) fn is_boxed(&self) -> bool {
        self.recursive || self.large
    }
}

/// The variants of a union that are objects with a tag.
pub(crate) struct Tagged<'u> {
    /// The name of the tag.
    pub(crate) tag: &'u str,
    /// The variants with a value of the tag, each with that value.
    pub(crate) variants: Vec<(&'u TypeRef, &'u str)>,
    /// The variants whose value of the tag the schema leaves open.
    pub(crate) others: Vec<&'u TypeRef>,
}

impl Union {
    /// Returns the tag and its value for each variant, if all variants are objects, and a required string distinguishes
    /// them.
    pub(crate) fn tags(&self) -> Option<(&str, Vec<&str>)> {
        let tagged = self.tagged()?;
        let values = tagged.variants.into_iter().map(|(_, value)| value);
        tagged.others.is_empty().then(|| (tagged.tag, values.collect()))
    }

    /// Returns the tag and its value for each variant that has one, if all variants are objects, and a required string
    /// distinguishes these.
    pub(crate) fn tagged(&self) -> Option<Tagged<'_>> {
        let Some(Decision::Tag {
            member,
            types: None,
            cases,
            absent: None,
            others: decision,
        }) = &self.objects
        else {
            return None;
        };
        let tags = single_tags(cases);
        let variant = |index: usize| &self.variants[index].ty;
        let untagged = (0..self.variants.len()).filter(|index| !tags.contains_key(index));
        let others: Vec<_> = untagged.map(variant).collect();
        let is_complete = tags.len() == cases.len() && others.is_empty() == decision.is_none();
        let variants = tags.into_iter().map(|(index, value)| (variant(index), value));
        is_complete.then(|| Tagged {
            tag: member,
            variants: variants.collect(),
            others,
        })
    }
}

impl Model {
    /// Returns the deprecation of the definition or member at a pointer of the schema.
    pub(crate) fn deprecation(&self, pointer: &str) -> Option<&Deprecation> {
        self.deprecated
            .iter()
            .find(|entry| entry.at.iter().any(|at| at == pointer))
    }

    pub(crate) fn deprecation_of_member(&self, ty: &Type, member: &str) -> Option<&Deprecation> {
        let members = pointer::child(&ty.pointer, "properties");
        self.deprecation(&pointer::child(&members, member))
    }

    /// Returns the deprecation of a method's message.
    pub(crate) fn deprecation_of_method(&self, method: &Method) -> Option<&Deprecation> {
        self.deprecation(&self.types.get(&method.ty)?.pointer)
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Returns the member of a method's message with its parameters.
    pub(crate) fn params(&self, method: &Method) -> Option<&Member> {
        self.struct_of(&TypeRef::Named(method.ty.clone()))?.member("params")
    }

    /// Returns the types that are objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (&Type, &Struct)> {
        self.types.values().filter_map(|ty| match &ty.kind {
            TypeKind::Struct(object) => Some((ty, object)),
            _ => None,
        })
    }

    /// Returns a member of this name of any object.
    pub(crate) fn member_anywhere(&self, name: &str) -> Option<&Member> {
        self.objects().find_map(|(_, object)| object.member(name))
    }

    pub(super) fn requests(&self) -> impl Iterator<Item = &Method> {
        self.methods.iter().filter(|method| method.kind == MessageKind::Request)
    }

    pub(crate) fn has_request(&self, method: &str) -> bool {
        let mut requests = self.requests();
        requests.any(|request| request.name == method)
    }

    pub(crate) fn kind(&self, name: &str) -> Option<&TypeKind> {
        self.types.get(name).map(|ty| &ty.kind)
    }

    /// Returns the kind of the type that `reference` resolves to, if that is a type of the revision.
    pub(crate) fn kind_of(&self, reference: &TypeRef) -> Option<&TypeKind> {
        self.kind(self.resolve(reference).as_named()?)
    }

    /// Whether a type declares the path `Type.member.member`. A union declares the members of all its variants.
    pub(crate) fn declares(&self, place: &str) -> bool {
        let path = place.split_once('.');
        path.is_some_and(|(ty, path)| self.declares_path(&TypeRef::Named(ty.to_owned()), path))
    }

    /// Whether objects of a type can also be read as another variant of a union.
    pub(crate) fn is_ambiguous(&self, name: &str) -> bool {
        self.types.values().any(|ty| match &ty.kind {
            TypeKind::Union(union) => {
                let is_ambiguous = union.objects.as_ref().is_some_and(|decision| !decision.is_by_tags());
                is_ambiguous && union.variants.iter().any(|variant| variant.ty.named() == Some(name))
            }
            _ => false,
        })
    }

    fn declares_path(&self, ty: &TypeRef, path: &str) -> bool {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        match self.kind_of(self.resolve(ty).not_null()) {
            Some(TypeKind::Struct(object)) if rest.is_empty() => object.declares(first),
            Some(TypeKind::Struct(object)) => {
                let member = object.member(first);
                member.is_some_and(|member| self.declares_path(&member.ty, rest))
            }
            Some(TypeKind::Union(union)) => {
                let mut variants = union.variants.iter();
                variants.any(|variant| self.declares_path(&variant.ty, path))
            }
            _ => false,
        }
    }

    /// Whether an error can have this code: one of JSON-RPC's, or one of the revision's own.
    pub(crate) fn has_error_code(&self, code: i64) -> bool {
        JSON_RPC_CODES.contains(&code) || self.error_codes.iter().any(|error| error.code == code)
    }

    /// Whether the type of this Rust name is an enumeration of strings.
    pub(crate) fn is_strings(&self, name: &str) -> bool {
        matches!(self.kind(name), Some(TypeKind::Strings(_)))
    }

    /// Whether the schema gives the type of this Rust name its name.
    pub(crate) fn is_official(&self, name: &str) -> bool {
        self.types.get(name).is_some_and(|ty| ty.official)
    }

    /// Whether the schema enumerates the values of the type of this Rust name, so that no other is valid.
    pub(crate) fn is_enumeration(&self, name: &str) -> bool {
        self.types.get(name).is_some_and(|ty| ty.schema.enumeration)
    }

    /// Whether values of a type are JSON that no type describes, or lists or maps of it.
    pub(crate) fn is_open(&self, ty: &TypeRef) -> bool {
        match self.resolve(ty) {
            TypeRef::Any | TypeRef::RawObject => true,
            TypeRef::List(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => self.is_open(inner),
            _ => false,
        }
    }

    /// Returns the type that `reference` resolves to, after following aliases.
    pub(crate) fn resolve<'m>(&'m self, mut reference: &'m TypeRef) -> &'m TypeRef {
        // Cyclic aliases were removed, but the number of steps is bounded anyway.
        for _ in 0..=self.types.len() {
            let TypeRef::Named(name) = reference else {
                break;
            };
            match self.kind(name) {
                Some(TypeKind::Alias(target)) => reference = target,
                _ => break,
            }
        }
        reference
    }

    /// Returns the types that the crate of this model defines: all except those that an extension imports.
    pub(crate) fn own_types(&self) -> impl Iterator<Item = (&String, &Type)> {
        self.types.iter().filter(|(_, ty)| !ty.imported)
    }

    /// Returns all types by name: definitions by their official names, unnamed types by their Rust names.
    pub(crate) fn named_types(&self) -> BTreeMap<&str, TypeRef> {
        let unnamed = self.types.iter().filter(|(_, ty)| !ty.official);
        let unnamed = unnamed.map(|(name, _)| (name.as_str(), TypeRef::Named(name.clone())));
        let definitions = self.definitions.iter();
        let definitions = definitions.map(|(name, definition)| (name.as_str(), definition.ty.clone()));
        unnamed.chain(definitions).collect()
    }

    /// Whether a value of the type can have parts.
    pub(crate) fn is_compound(&self, reference: &TypeRef) -> bool {
        match self.resolve(reference) {
            TypeRef::Named(name) => !self.is_strings(name),
            TypeRef::Nullable(inner) => self.is_compound(inner),
            TypeRef::Any | TypeRef::RawObject | TypeRef::List(_) | TypeRef::Map(_) => true,
            _ => false,
        }
    }

    pub(crate) fn union_of(&self, reference: &TypeRef) -> Option<&Union> {
        match self.kind_of(reference)? {
            TypeKind::Union(union) => Some(union),
            _ => None,
        }
    }

    pub(crate) fn struct_of(&self, reference: &TypeRef) -> Option<&Struct> {
        match self.kind_of(reference)? {
            TypeKind::Struct(object) => Some(object),
            _ => None,
        }
    }
}
