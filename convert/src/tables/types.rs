//! The types of a revision.

use mcp_wire::{Discriminator, JsonType, MAX_DEPTH};

/// The position of a type in its table. Types are never removed.
pub(crate) type TypeId = usize;

/// A reference to a type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeRef {
    Named(TypeId),
    Id,
    String,
    Boolean,
    Integer,
    Number,
    Null,
    Any,
    Object,
    List(Box<Self>),
    Map(Box<Self>),
    Nullable(Box<Self>),
}

/// A type with a name.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: &'static str,
    /// The JSON pointer of its schema.
    pub(crate) pointer: &'static str,
    /// Whether only the declared members or values are valid.
    pub(crate) closed: bool,
    pub(crate) kind: Kind,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Object(ObjectType),
    Strings(Vec<&'static str>),
    Union(Union),
    Alias(TypeRef),
    /// Messages by method.
    Methods(Vec<(&'static str, TypeId)>),
    /// Results by method.
    Results(ResultUnion),
}

/// An object with declared members.
#[derive(Debug, Default)]
pub(crate) struct ObjectType {
    pub(crate) members: Vec<Member>,
}

/// A declared member.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    pub(crate) value: MemberValue,
}

#[derive(Debug)]
pub(crate) enum MemberValue {
    /// The JSON of the only value.
    Constant(&'static str),
    Of(TypeRef),
}

/// One of several types.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) variants: Vec<Variant>,
    /// The decision between the variants that are objects.
    pub(crate) objects: Option<Decision>,
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) ty: TypeRef,
    pub(crate) json_type: JsonType,
}

/// A decision that chooses the variant of an object.
#[derive(Debug, PartialEq)]
pub(crate) enum Decision {
    Is(usize),
    Tag {
        member: &'static str,
        /// The JSON types of the tag, whose values are written as JSON; empty for any. `None` if the tag is a string.
        types: Option<Vec<JsonType>>,
        cases: Vec<(Vec<&'static str>, Decision)>,
        absent: Option<Box<Decision>>,
        /// The decision for all other values.
        others: Option<Box<Decision>>,
    },
    Has {
        discriminators: &'static [Discriminator],
        decisions: Vec<Decision>,
        otherwise: Box<Decision>,
        needs: &'static [&'static str],
    },
    Within {
        member: &'static str,
        decision: Box<Decision>,
    },
}

impl Type {
    /// Returns the named types that a value of this type is directly one of.
    pub(super) fn variants(&self) -> impl Iterator<Item = TypeId> {
        let (refs, methods): (Vec<&TypeRef>, &[_]) = match &self.kind {
            Kind::Alias(ty) => (vec![ty], &[]),
            Kind::Union(union) => (union.variants.iter().map(|variant| &variant.ty).collect(), &[]),
            Kind::Methods(methods) => (Vec::new(), methods),
            Kind::Object(_) | Kind::Strings(_) | Kind::Results(_) => (Vec::new(), &[]),
        };
        let refs = refs.into_iter().filter_map(TypeRef::in_place);
        refs.chain(methods.iter().map(|(_, id)| *id))
    }
}

impl Decision {
    /// Returns the decision with other variants in place of its own. `None` if one of them has no other.
    pub(crate) fn mapped(&self, other: &dyn Fn(usize) -> Option<usize>) -> Option<Self> {
        let mapped = |decision: &Self| decision.mapped(other);
        Some(match self {
            Self::Is(at) => Self::Is(other(*at)?),
            Self::Tag {
                member,
                types,
                cases,
                absent,
                others,
            } => {
                let cases = cases.iter().map(|(values, case)| Some((values.clone(), mapped(case)?)));
                let optional = |decision: &Option<Box<Self>>| match decision {
                    Some(decision) => mapped(decision).map(|mapped| Some(Box::new(mapped))),
                    None => Some(None),
                };
                Self::Tag {
                    member,
                    types: types.clone(),
                    cases: cases.collect::<Option<_>>()?,
                    absent: optional(absent)?,
                    others: optional(others)?,
                }
            }
            Self::Has {
                discriminators,
                decisions,
                otherwise,
                needs,
            } => Self::Has {
                discriminators,
                decisions: decisions.iter().map(mapped).collect::<Option<_>>()?,
                otherwise: mapped(otherwise).map(Box::new)?,
                needs,
            },
            Self::Within { member, decision } => Self::Within {
                member,
                decision: mapped(decision).map(Box::new)?,
            },
        })
    }

    /// Whether each outcome is one of `count` variants.
    pub(super) fn is_among(&self, count: usize) -> bool {
        let is_among = |decision: &Self| decision.is_among(count);
        match self {
            Self::Is(at) => *at < count,
            Self::Tag {
                cases, absent, others, ..
            } => {
                let cases = cases.iter().map(|(_, decision)| decision);
                let mut all = cases.chain(absent.as_deref()).chain(others.as_deref());
                all.all(is_among)
            }
            Self::Has {
                decisions, otherwise, ..
            } => decisions.iter().all(is_among) && is_among(otherwise),
            Self::Within { decision, .. } => is_among(decision),
        }
    }
}

/// The results of several methods.
#[derive(Debug)]
pub(crate) struct ResultUnion {
    pub(crate) methods: Vec<(&'static str, Results)>,
    /// The types, without duplicates.
    pub(crate) variants: Vec<TypeRef>,
}

/// The results of a method. The first is the usual one.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) types: Vec<TypeRef>,
    pub(crate) told_by: ResultDiscriminator,
}

/// What distinguishes the results of a method.
#[derive(Debug, Default)]
pub(crate) enum ResultDiscriminator {
    /// There is only one.
    #[default]
    Nothing,
    /// The value of a tag in each; the usual result can lack the tag.
    Tag(&'static str, Vec<&'static str>),
    /// A member of each.
    Members(&'static [&'static str]),
}

impl ObjectType {
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Returns the position of a member. The search starts at `next`, and ends with the members before it.
    pub(crate) fn position(&self, name: &str, next: usize) -> Option<usize> {
        let (passed, ahead) = self.members.split_at(next.min(self.members.len()));
        let is_it = |member: &Member| member.name == name;
        let at = ahead.iter().position(is_it).map(|at| next + at);
        at.or_else(|| passed.iter().position(is_it))
    }
}

impl Member {
    /// Returns the type of the value, unless it is constant.
    pub(crate) fn ty(&self) -> Option<&TypeRef> {
        match &self.value {
            MemberValue::Of(ty) => Some(ty),
            MemberValue::Constant(_) => None,
        }
    }

    /// Returns the JSON of the value, if it is constant.
    pub(crate) fn constant(&self) -> Option<&'static str> {
        match self.value {
            MemberValue::Constant(json) => Some(json),
            MemberValue::Of(_) => None,
        }
    }
}

impl TypeRef {
    /// Whether `null` is a value of the type. The `null` of an optional member of another type counts as undeclared.
    pub(crate) fn holds_null(&self) -> bool {
        matches!(self, Self::Null | Self::Any | Self::Nullable(_))
    }

    /// Returns the type without `null`.
    pub(crate) fn not_null(&self) -> &Self {
        match self {
            Self::Nullable(inner) => inner,
            _ => self,
        }
    }

    /// Returns the innermost type in lists, maps and nullable types.
    pub(crate) fn innermost(&self) -> &Self {
        match self {
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.innermost(),
            _ => self,
        }
    }

    /// Returns the named type that a value of this type, unless it is `null`, is one of.
    fn in_place(&self) -> Option<TypeId> {
        match self {
            Self::Named(id) => Some(*id),
            Self::Nullable(inner) => inner.in_place(),
            _ => None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Any | Self::Object)
    }

    /// Returns the type with a notation: a name, a keyword, `[T]`, `{T}` or `T?`.
    pub(super) fn parse(notation: &str, find: &impl Fn(&str) -> Option<TypeId>) -> Option<Self> {
        Self::parse_within(notation, find, MAX_DEPTH)
    }

    fn parse_within(notation: &str, find: &impl Fn(&str) -> Option<TypeId>, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        let inner = |text: &str| Self::parse_within(text, find, depth).map(Box::new);
        if let Some(text) = notation.strip_suffix('?') {
            return inner(text).map(Self::Nullable);
        }
        if let Some(text) = notation.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            return inner(text).map(Self::List);
        }
        if let Some(text) = notation.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            return inner(text).map(Self::Map);
        }
        Some(match notation {
            "id" => Self::Id,
            "string" => Self::String,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "null" => Self::Null,
            "any" => Self::Any,
            "object" => Self::Object,
            name => Self::Named(find(name)?),
        })
    }
}

/// The definitions of the unions of the messages and results that a role sends. A revision can lack some.
#[derive(Debug, Default)]
pub(crate) struct RoleTypes {
    pub(crate) requests: Option<&'static str>,
    pub(crate) notifications: Option<&'static str>,
    pub(crate) results: Option<&'static str>,
}
