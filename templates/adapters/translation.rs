//! Conversions between any two revisions for tools that learn the type at run time.

use std::any::Any;
use std::fmt;

use mcp_wire::serde::Serialize;
use mcp_wire::{Decode, DecodeError, Decoded, OpenJson, from_slice};

use crate::Revision;
use crate::conversion::{Conversion, Convert, Loss, Policy, Unrepresentable};

/// Definitions, each with its type, and with what it becomes one revision earlier and later.
macro_rules! definitions {
    ($($name:literal: $type:ty
        $(, earlier $earlier_name:literal: $earlier:ty)?
        $(, later $later_name:literal: $later:ty)?;)*) => {
        const {
            &[$(
                Definition::new::<$type>($name)
                    $(.earlier::<$type, $earlier>($earlier_name))?
                    $(.later::<$type, $later>($later_name))?
            ),*]
        }
    };
}
pub(crate) use definitions;

/// A definition of a revision, and what it becomes one revision earlier or later.
pub(crate) struct Definition {
    name: &'static str,
    decode: fn(&[u8]) -> Decoded<Box<dyn Any>>,
    encode: fn(&dyn Any) -> Result<OpenJson, Unrepresentable>,
    earlier: Option<Step>,
    later: Option<Step>,
}

type ConvertAny = fn(Box<dyn Any>, &mut Conversion) -> Result<Box<dyn Any>, Unrepresentable>;

/// What a definition becomes in an adjacent revision.
#[derive(Clone, Copy)]
struct Step {
    name: &'static str,
    convert: ConvertAny,
}

impl Definition {
    pub(crate) const fn new<T: Decode + Serialize + 'static>(name: &'static str) -> Self {
        Self {
            name,
            decode: |json| Ok(Box::new(from_slice::<T>(json)?)),
            encode: |value| match value.downcast_ref::<T>() {
                Some(value) => crate::conversion::open(value),
                None => Err(mixed_up()),
            },
            earlier: None,
            later: None,
        }
    }

    pub(crate) const fn earlier<S: Convert<T> + 'static, T: 'static>(mut self, name: &'static str) -> Self {
        self.earlier = Some(Step::new::<S, T>(name));
        self
    }

    pub(crate) const fn later<S: Convert<T> + 'static, T: 'static>(mut self, name: &'static str) -> Self {
        self.later = Some(Step::new::<S, T>(name));
        self
    }
}

impl Step {
    const fn new<S: Convert<T> + 'static, T: 'static>(name: &'static str) -> Self {
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
    Unrepresentable::new(
        code,
        "the value is not of its definition's type",
        crate::conversion::AUTOMATIC,
    )
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
}

/// Why a value can't be had in another revision.
#[derive(Debug)]
pub enum TranslateError {
    /// The revision has no definition of that name that could be exchanged.
    UnknownDefinition {
        /// The revision.
        revision: Revision,
        /// The name.
        name: String,
    },
    /// A revision on the way has nothing that corresponds.
    NoCounterpart {
        /// That revision.
        revision: Revision,
        /// What it would have to have.
        name: &'static str,
    },
    /// The value is no instance of the definition.
    Invalid(DecodeError),
    /// A revision on the way can't represent the value.
    Unrepresentable(Unrepresentable),
}

/// Converts an instance of a definition from one revision to another, a step at a time.
///
/// # Errors
/// When it is no instance, or can't be represented.
pub fn translate(
    from: Revision,
    to: Revision,
    name: &str,
    json: &[u8],
    policy: Policy,
) -> Result<Translation, TranslateError> {
    let find = |revision, name: &str| crate::translations::definitions(revision).iter().find(|definition| definition.name == name);
    let unknown = || TranslateError::UnknownDefinition {
        revision: from,
        name: name.to_owned(),
    };
    let mut definition = find(from, name).ok_or_else(unknown)?;
    let mut value = (definition.decode)(json).map_err(TranslateError::Invalid)?;
    let mut conversion = Conversion::new(policy);
    let way: Vec<Revision> = if from < to {
        Revision::ALL
            .into_iter()
            .filter(|revision| *revision > from && *revision <= to)
            .collect()
    } else {
        let earlier = Revision::ALL.into_iter().rev();
        earlier.filter(|revision| *revision < from && *revision >= to).collect()
    };
    for revision in way {
        let step = if from < to {
            definition.later
        } else {
            definition.earlier
        };
        let missing = || TranslateError::NoCounterpart {
            revision,
            name: definition.name,
        };
        let step = step.ok_or_else(missing)?;
        value = (step.convert)(value, &mut conversion).map_err(TranslateError::Unrepresentable)?;
        definition = find(revision, step.name).ok_or_else(missing)?;
    }
    Ok(Translation {
        definition: definition.name,
        value: (definition.encode)(value.as_ref()).map_err(TranslateError::Unrepresentable)?,
        losses: conversion.into_losses(),
    })
}

/// The definitions of a revision that can be translated, by name.
pub fn translatable(revision: Revision) -> impl Iterator<Item = &'static str> {
    crate::translations::definitions(revision).iter().map(|definition| definition.name)
}

impl TranslateError {
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

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path();
        if !path.is_root() {
            write!(f, "`{path}`: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl std::error::Error for TranslateError {}
