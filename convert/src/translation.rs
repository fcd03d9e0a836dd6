//! Conversions between any two revisions for types that are known only at run time.

use std::any::Any;
use std::fmt;

use mcp_wire::{Decode, DecodeError, Decoded, Encode, OpenJson, from_slice};

use crate::conversion::{Conversion, Convert, Supply};
use crate::loss::{AUTOMATIC, Loss};
use crate::open::open;
use crate::revision::ProtocolRevision;
use crate::unrepresentable::Unrepresentable;

/// An enumeration of revisions whose definitions can be translated.
pub trait Translations: ProtocolRevision {
    /// The definitions of the revision that can be translated.
    fn translations(self) -> &'static [Definition<Self>];
}

/// A definition of a revision, and its counterparts one revision earlier and later.
pub struct Definition<R> {
    name: &'static str,
    decode: fn(&[u8]) -> Decoded<Box<dyn Any>>,
    encode: fn(&dyn Any) -> Result<OpenJson, Unrepresentable>,
    earlier: Option<Step<R>>,
    later: Option<Step<R>>,
}

type ConvertAny<R> = fn(Box<dyn Any>, &mut Conversion<R>) -> Result<Box<dyn Any>, Unrepresentable>;

/// The conversion of a definition to an adjacent revision.
struct Step<R> {
    name: &'static str,
    convert: ConvertAny<R>,
}

impl<R> Definition<R> {
    /// Creates a definition without counterparts.
    #[must_use]
    pub const fn new<T: Decode + Encode + 'static>(name: &'static str) -> Self {
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

    /// Sets the counterpart one revision earlier.
    #[must_use]
    pub const fn earlier<S: Convert<T, R> + 'static, T: 'static>(mut self, name: &'static str) -> Self {
        self.earlier = Some(Step::new::<S, T>(name));
        self
    }

    /// Sets the counterpart one revision later.
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

/// The error of a value with an unexpected type. It doesn't occur, because the tables name one type for each definition.
fn mixed_up() -> Unrepresentable {
    let code = mcp_wire::error_code::INTERNAL_ERROR;
    Unrepresentable::new(code, "the value is not of its definition's type", AUTOMATIC)
}

/// A value in another revision.
#[derive(Debug)]
pub struct Translation {
    /// The definition in the target revision.
    pub definition: &'static str,
    /// The value.
    pub value: OpenJson,
    /// The losses of the conversions.
    pub losses: Vec<Loss>,
    /// The supply, with the values that the conversions added.
    pub supply: Option<Supply>,
}

/// The error of a value that can't be translated.
#[derive(Debug)]
pub enum TranslateError<R> {
    /// The revision has no such definition, or peers don't exchange it.
    UnknownDefinition {
        /// The revision.
        revision: R,
        /// The name.
        name: String,
    },
    /// A revision on the way has no counterpart of the definition.
    NoCounterpart {
        /// That revision.
        revision: R,
        /// The definition without a counterpart.
        name: &'static str,
    },
    /// The value isn't an instance of the definition.
    Invalid(DecodeError),
    /// A revision on the way can't represent the value.
    Unrepresentable(Unrepresentable),
}

/// Converts an instance of a definition from one revision to another, one revision at a time. A [`Policy`](crate::Policy)
/// can be passed as the conversion.
///
/// # Errors
/// When the value isn't an instance of the definition, or a revision can't represent it.
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
    for revision in from.way(to) {
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
    /// The JSON-RPC error code for a peer.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::error_code::METHOD_NOT_FOUND,
            Self::Invalid(_) => mcp_wire::error_code::INVALID_PARAMS,
            Self::Unrepresentable(error) => error.code(),
        }
    }

    /// The path to the part of the value that can't be translated.
    #[must_use]
    pub fn path(&self) -> mcp_wire::Path {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::Path::default(),
            Self::Invalid(error) => error.path(),
            Self::Unrepresentable(error) => error.path(),
        }
    }

    /// The message without the path.
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
