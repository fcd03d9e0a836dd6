//! Checks that the JSON of a rule is a value of a type, as far as the models show.

use std::fmt::Display;

use serde_json::{Value, json};

use super::pairing::Pairing;
use crate::model::{Struct, TypeKind, TypeRef};
use crate::normalise::Scalar;

/// Returns an error unless a condition holds.
pub(super) fn require(holds: bool, otherwise: impl Into<String>) -> Result<(), String> {
    holds.then_some(()).ok_or_else(|| otherwise.into())
}

/// JSON that a rule puts into a value of the target.
#[derive(Clone, Copy)]
pub(super) struct TemplateCheck<'p, 'm> {
    pub(super) pair: &'p Pairing<'m>,
    /// The type whose members replace placeholders; `None` if the JSON has none and is used as it is.
    pub(super) source: Option<&'p TypeRef>,
}

/// The value that replaces a placeholder.
struct Found {
    /// Its type; `Any` if that depends on the value.
    ty: TypeRef,
    optional: bool,
}

impl TemplateCheck<'_, '_> {
    /// Checks that the JSON is a value of a type of the target, or will be once its placeholders are replaced.
    pub(super) fn check(self, json: &Value, ty: &TypeRef) -> Result<(), String> {
        self.check_placeholders(json)?;
        self.fits(json, ty)
    }

    /// Checks that all placeholders, at any depth, name declared members.
    fn check_placeholders(self, json: &Value) -> Result<(), String> {
        match json {
            Value::String(text) => self.placeholders(text).map(drop),
            Value::Array(elements) => elements.iter().try_for_each(|element| self.check_placeholders(element)),
            Value::Object(members) => members.values().try_for_each(|value| self.check_placeholders(value)),
            _ => Ok(()),
        }
    }

    fn placeholders(self, text: &str) -> Result<Vec<Found>, String> {
        let Some(source) = self.source else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            let end = after.split_once('}');
            let (path, after) = end.ok_or_else(|| format!("a placeholder of {text:?} has no end"))?;
            found.push(self.at(source, path)?);
            rest = after;
        }
        Ok(found)
    }

    /// Returns the value for a string that is a single placeholder; such a string becomes the value itself, or nothing.
    fn whole(self, json: &Value) -> Option<Found> {
        let path = json.as_str()?.strip_prefix('{')?.strip_suffix('}')?;
        if path.is_empty() || path.contains(['{', '}']) {
            return None;
        }
        self.at(self.source?, path).ok()
    }

    fn fits(self, json: &Value, ty: &TypeRef) -> Result<(), String> {
        let (pair, ty) = (self.pair, self.pair.to.model.resolve(ty));
        let when = |fits: bool| require(fits, format!("{json} isn't a value of {}", pair.to.name(ty)));
        let is_enumeration = pair.to.is_enumeration(ty);
        let becomes = |source: &TypeRef| {
            when(match ty {
                // The inserted value might not be one of the enumerated values.
                _ if is_enumeration => false,
                TypeRef::Any => true,
                TypeRef::Nullable(inner) => pair.converts(source, ty, 0) || pair.converts(source, inner, 0),
                _ => pair.converts(source, ty, 0),
            })
        };
        if let Some(found) = self.whole(json) {
            return when(found.ty == TypeRef::Any).or_else(|_| becomes(&found.ty));
        }
        if let Some(text) = json.as_str()
            && !self.placeholders(text)?.is_empty()
        {
            return becomes(&TypeRef::String);
        }
        when(match (ty, json) {
            (TypeRef::Any, _) | (TypeRef::RawObject, Value::Object(_)) | (TypeRef::Nullable(_), Value::Null) => true,
            (TypeRef::Nullable(inner), _) => return self.fits(json, inner),
            (TypeRef::List(inner), Value::Array(elements)) => {
                let mut elements = elements.iter().enumerate();
                return elements.try_for_each(|(index, element)| within(index, self.fits(element, inner)));
            }
            (TypeRef::Map(inner), Value::Object(members)) => {
                let mut members = members.iter();
                return members.try_for_each(|(key, value)| within(key, self.fits(value, inner)));
            }
            (TypeRef::Named(name), _) => match pair.to.model.kind(name) {
                Some(TypeKind::Struct(object)) => return self.is_object(name, object, json),
                Some(TypeKind::Union(_)) => return self.is_variant(ty, json),
                Some(TypeKind::Strings(strings)) => {
                    let text = json.as_str();
                    text.is_some_and(|text| !is_enumeration || strings.values.iter().any(|value| value == text))
                }
                _ => json.is_object(),
            },
            (TypeRef::String | TypeRef::RequestId, Value::String(_))
            | (TypeRef::Boolean, Value::Bool(_))
            | (TypeRef::Number, Value::Number(_))
            | (TypeRef::Null, Value::Null) => true,
            (TypeRef::Integer | TypeRef::RequestId, Value::Number(number)) => number.is_i64(),
            _ => false,
        })
    }

    fn is_object(self, name: &str, object: &Struct, json: &Value) -> Result<(), String> {
        let Value::Object(members) = json else {
            return Err(format!("{json} isn't a value of {name}"));
        };
        for constant in &object.constants {
            let is_same = |value: &Value| *value == json!(constant.value) || self.whole(value).is_some();
            match members.get(&constant.name) {
                Some(value) if is_same(value) => {}
                None if !constant.required => {}
                _ => return Err(format!("{json} isn't a value of {name}, by its `{}`", constant.name)),
            }
        }
        for member in &object.members {
            match members.get(&member.name) {
                Some(value) => {
                    within(&member.name, self.fits(value, &member.ty))?;
                    let may_lack = member.required && self.whole(value).is_some_and(|found| found.optional);
                    let absent = "and the value that replaces the placeholder may be absent";
                    require(!may_lack, format!("{name} requires `{}`, {absent}", member.name))?;
                }
                None => require(!member.required, format!("{name} requires `{}`", member.name))?,
            }
        }
        let undeclared = members.keys().find(|key| !object.declares(key));
        undeclared.map_or(Ok(()), |key| Err(format!("{name} has no member `{key}`")))
    }

    fn is_variant(self, union: &TypeRef, json: &Value) -> Result<(), String> {
        let model = &self.pair.to.model;
        let candidates = self.pair.to.candidates(union);
        let mut meant = Vec::new();
        for candidate in &candidates {
            let Err(problem) = self.fits(json, candidate) else {
                return Ok(());
            };
            let has_tag = |object: &Struct| {
                let mut constants = object.constants.iter();
                constants.any(|constant| json.get(&constant.name) == Some(&json!(constant.value)))
            };
            if model.struct_of(candidate).is_some_and(has_tag) {
                meant.push(problem);
            }
        }
        match meant.as_slice() {
            [only] => Err(only.clone()),
            _ => Err(format!("{json} isn't a variant of {}", self.pair.to.name(union))),
        }
    }

    /// Returns the value at a path, which is resolved as in templates at run time.
    fn at(self, ty: &TypeRef, path: &str) -> Result<Found, String> {
        if path.is_empty() {
            let ty = ty.clone();
            return Ok(Found { ty, optional: false });
        }
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let name = first.strip_suffix("[]").unwrap_or(first);
        let found = self.member(ty, name)?;
        if name == first {
            let inner = self.at(&found.ty, rest)?;
            let optional = found.optional || inner.optional;
            return Ok(Found { optional, ..inner });
        }
        let element = match self.pair.from.model.resolve(&found.ty) {
            TypeRef::List(element) => element,
            TypeRef::Any => &TypeRef::Any,
            _ => return Err(format!("`{name}` isn't a list")),
        };
        let ty = TypeRef::List(Box::new(self.at(element, rest)?.ty));
        Ok(Found { ty, ..found })
    }

    fn member(self, ty: &TypeRef, name: &str) -> Result<Found, String> {
        let model = &self.pair.from.model;
        let ty = model.resolve(ty);
        let may_be = |ty: TypeRef| Ok(Found { ty, optional: true });
        match ty {
            TypeRef::Any | TypeRef::RawObject => return may_be(TypeRef::Any),
            TypeRef::Map(value) => return may_be(TypeRef::clone(value)),
            TypeRef::Nullable(inner) => return may_be(self.member(inner, name)?.ty),
            _ => {}
        }
        let variants = self.pair.from.candidates(ty);
        let objects = variants.iter().filter_map(|variant| model.struct_of(variant));
        let found: Vec<Found> = objects.filter_map(|object| declared(object, name)).collect();
        let missing = || format!("{} declares no member `{name}`", self.pair.from.name(ty));
        let first = found.first().ok_or_else(missing)?;
        let is_same = found.iter().all(|other| other.ty == first.ty);
        let ty = if is_same { first.ty.clone() } else { TypeRef::Any };
        let optional = found.len() < variants.len() || found.iter().any(|found| found.optional);
        Ok(Found { ty, optional })
    }
}

fn declared(object: &Struct, name: &str) -> Option<Found> {
    let (ty, required) = match object.member(name) {
        Some(member) => (member.ty.clone(), member.required),
        None => (type_of(&object.constant(name)?.value), object.constant(name)?.required),
    };
    Some(Found {
        ty,
        optional: !required,
    })
}

pub(super) fn type_of(constant: &Scalar) -> TypeRef {
    match constant {
        Scalar::String(_) => TypeRef::String,
        Scalar::Integer(_) => TypeRef::Integer,
        Scalar::Boolean(_) => TypeRef::Boolean,
    }
}

fn within(member: impl Display, result: Result<(), String>) -> Result<(), String> {
    result.map_err(|problem| format!("`{member}`: {problem}"))
}
