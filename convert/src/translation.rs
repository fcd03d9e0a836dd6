//! Conversions between any two revisions for tools that learn the type at run time.

use std::any::Any;
use std::fmt;

use mcp_wire::serde::Serialize;
use mcp_wire::{Decode, DecodeError, Decoded, OpenJson, from_slice};

use crate::conversion::{Conversion, Convert, Supply};
use crate::loss::{AUTOMATIC, Loss};
use crate::open::open;
use crate::revision::ProtocolRevision;
use crate::unrepresentable::Unrepresentable;

/// An enumeration of revisions whose definitions have counterparts in each other.
pub trait Translations: ProtocolRevision {
    /// The definitions of the revision that can be translated, and what they become.
    fn translations(self) -> &'static [Definition<Self>];
}

/// A definition of a revision, and what it becomes one revision earlier or later.
pub struct Definition<R> {
    name: &'static str,
    decode: fn(&[u8]) -> Decoded<Box<dyn Any>>,
    encode: fn(&dyn Any) -> Result<OpenJson, Unrepresentable>,
    earlier: Option<Step<R>>,
    later: Option<Step<R>>,
}

type ConvertAny<R> = fn(Box<dyn Any>, &mut Conversion<R>) -> Result<Box<dyn Any>, Unrepresentable>;

/// What a definition becomes in an adjacent revision.
struct Step<R> {
    name: &'static str,
    convert: ConvertAny<R>,
}

impl<R> Definition<R> {
    /// A definition with its type.
    #[must_use]
    pub const fn new<T: Decode + Serialize + 'static>(name: &'static str) -> Self {
        Self {
            name,
            decode: |json| Ok(Box::new(from_slice::<T>(json)?)),
            encode: |value| match value.downcast_ref::<T>() {
                Some(value) => open(value),
                None => Err(mixed_up()),
            },
            earlier: None,
            later: None,
        }
    }

    /// The same definition, with what it becomes one revision earlier.
    #[must_use]
    pub const fn earlier<S: Convert<T, R> + 'static, T: 'static>(mut self, name: &'static str) -> Self {
        self.earlier = Some(Step::new::<S, T>(name));
        self
    }

    /// The same definition, with what it becomes one revision later.
    #[must_use]
    pub const fn later<S: Convert<T, R> + 'static, T: 'static>(mut self, name: &'static str) -> Self {
        self.later = Some(Step::new::<S, T>(name));
        self
    }
}

impl<R> Step<R> {
    const fn new<S: Convert<T, R> + 'static, T: 'static>(name: &'static str) -> Self {
        Self {
            name,
            convert: |value, conversion| match value.downcast::<S>() {
                Ok(value) => {
                    let value: T = (*value).convert(conversion)?;
                    Ok(Box::new(value))
                }
                Err(_) => Err(mixed_up()),
            },
        }
    }
}

/// The tables name one type for each definition, so a value of another never gets here.
fn mixed_up() -> Unrepresentable {
    let code = mcp_wire::error_code::INTERNAL_ERROR;
    Unrepresentable::new(code, "the value is not of its definition's type", AUTOMATIC)
}

/// A value in another revision.
#[derive(Debug)]
pub struct Translation {
    /// The definition that it is an instance of now.
    pub definition: &'static str,
    /// The value.
    pub value: OpenJson,
    /// What it lost.
    pub losses: Vec<Loss>,
    /// What was supplied, with what was added to it.
    pub supply: Option<Supply>,
}

/// Why a value can't be had in another revision.
#[derive(Debug)]
pub enum TranslateError<R> {
    /// The revision has no definition of that name that could be exchanged.
    UnknownDefinition {
        /// The revision.
        revision: R,
        /// The name.
        name: String,
    },
    /// A revision on the way has nothing that corresponds.
    NoCounterpart {
        /// That revision.
        revision: R,
        /// What it would have to have.
        name: &'static str,
    },
    /// The value is no instance of the definition.
    Invalid(DecodeError),
    /// A revision on the way can't represent the value.
    Unrepresentable(Unrepresentable),
}

/// Converts an instance of a definition from one revision to another, a step at a time. A policy is enough of a conversion where
/// nothing is supplied.
///
/// # Errors
/// When it is no instance, or can't be represented.
pub fn translate<R: Translations>(
    from: R,
    to: R,
    name: &str,
    json: &[u8],
    conversion: impl Into<Conversion<R>>,
) -> Result<Translation, TranslateError<R>> {
    let find = |revision: R, name: &str| {
        let mut definitions = revision.translations().iter();
        definitions.find(|definition| definition.name == name)
    };
    let unknown = || TranslateError::UnknownDefinition {
        revision: from,
        name: name.to_owned(),
    };
    let mut definition = find(from, name).ok_or_else(unknown)?;
    let mut value = (definition.decode)(json).map_err(TranslateError::Invalid)?;
    let mut conversion = conversion.into();
    let all = R::REVISIONS.iter().copied();
    let way: Vec<R> = if from < to {
        all.filter(|revision| *revision > from && *revision <= to).collect()
    } else {
        let earlier = all.rev();
        earlier.filter(|revision| *revision < from && *revision >= to).collect()
    };
    for revision in way {
        let step = if from < to {
            &definition.later
        } else {
            &definition.earlier
        };
        let missing = || TranslateError::NoCounterpart {
            revision,
            name: definition.name,
        };
        let step = step.as_ref().ok_or_else(missing)?;
        value = (step.convert)(value, &mut conversion).map_err(TranslateError::Unrepresentable)?;
        definition = find(revision, step.name).ok_or_else(missing)?;
    }
    Ok(Translation {
        definition: definition.name,
        value: (definition.encode)(value.as_ref()).map_err(TranslateError::Unrepresentable)?,
        supply: conversion.take_supply(),
        losses: conversion.into_losses(),
    })
}

/// The definitions of a revision that can be translated, by name.
pub fn translatable<R: Translations>(revision: R) -> impl Iterator<Item = &'static str> {
    revision.translations().iter().map(|definition| definition.name)
}

impl<R: ProtocolRevision> TranslateError<R> {
    /// The JSON-RPC error code that would tell a peer.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::error_code::METHOD_NOT_FOUND,
            Self::Invalid(_) => mcp_wire::error_code::INVALID_PARAMS,
            Self::Unrepresentable(error) => error.code(),
        }
    }

    /// Where in the value, seen from its root.
    #[must_use]
    pub fn path(&self) -> mcp_wire::Path {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::Path::default(),
            Self::Invalid(error) => error.path(),
            Self::Unrepresentable(error) => error.path(),
        }
    }

    /// What is wrong, without the path.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::UnknownDefinition { revision, name } => {
                format!("revision {revision} has no definition {name:?} that can be translated")
            }
            Self::NoCounterpart { revision, name } => format!("revision {revision} has no counterpart of {name}"),
            Self::Invalid(error) => error.reason(),
            Self::Unrepresentable(error) => error.reason().to_owned(),
        }
    }
}

impl<R: ProtocolRevision> fmt::Display for TranslateError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_root() {
            write!(f, "`{path}`: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl<R: ProtocolRevision> std::error::Error for TranslateError<R> {}
