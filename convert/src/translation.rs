//! Conversions between any two revisions for types that are known only at run time.

use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;

use mcp_wire::{DecodeError, RawJson, Reader};

use crate::conversion::Conversion;
use crate::engine::Failed;
use crate::loss::Loss;
use crate::revision::ProtocolRevision;
use crate::supply::Supply;
use crate::tables::rows::Rows;
use crate::unrepresentable::Unrepresentable;

/// A value in another revision.
#[derive(Debug)]
pub struct Translation {
    /// The definition in the target revision.
    pub definition: &'static str,
    /// The value.
    pub value: RawJson,
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

/// Converts an instance of a definition from one revision to another, one revision at a time. A
/// [`Policy`](crate::Policy) can be passed as the conversion.
///
/// # Errors
/// When the value isn't an instance of the definition, or a revision can't represent it. A union of results can't be
/// converted, because its type depends on the request, and is only checked in its own revision.
pub fn translate<R: ProtocolRevision>(
    from: R,
    to: R,
    name: &str,
    json: &[u8],
    conversion: impl Into<Conversion<R>>,
) -> Result<Translation, TranslateError<R>> {
    let unrepresentable = TranslateError::Unrepresentable;
    let table = R::protocol().table(from.index()).map_err(unrepresentable)?;
    let definition = match from.index() == to.index() {
        // Nothing is converted, so that a result may be of any request.
        true => table.any_definition(name),
        false => table.definition(name),
    };
    let (name, ty) = definition.ok_or_else(|| TranslateError::UnknownDefinition {
        revision: from,
        name: name.to_owned(),
    })?;
    let json = Reader::from_slice(json).map_err(TranslateError::Invalid)?;
    let chain = R::protocol().chain(from.index(), to.index()).map_err(unrepresentable)?;
    let mut conversion = conversion.into();
    let mut node = chain
        .read(json, ty, true, &mut conversion.state)
        .map_err(TranslateError::Invalid)?;
    let definition = chain
        .convert(name, &mut node, &mut conversion.state)
        .map_err(|failed| match failed {
            Failed::Invalid(error) => TranslateError::Invalid(error),
            Failed::Unrepresentable(error) => TranslateError::Unrepresentable(error),
            Failed::NoCounterpart { revision, name } => {
                let revision = R::by_name(revision).unwrap_or(to);
                TranslateError::NoCounterpart { revision, name }
            }
        })?;
    Ok(Translation {
        definition,
        value: node.into_json(),
        supply: conversion.take_supply(),
        losses: conversion.into_losses(),
    })
}

/// Returns the names of the definitions of a revision that can be translated, in alphabetical order.
pub fn translatable<R: ProtocolRevision>(revision: R) -> impl Iterator<Item = &'static str> {
    let table = R::protocol().table(revision.index()).ok();
    let names: BinaryHeap<&'static str> = table.into_iter().flat_map(|table| table.names()).collect();
    names.into_sorted_vec().into_iter()
}

/// Returns the names of all definitions of a revision, in alphabetical order: those that can be translated, and unions
/// of results.
pub fn definition_names<R: ProtocolRevision>(revision: R) -> impl Iterator<Item = &'static str> {
    let table = R::protocol().table(revision.index()).ok();
    let names: BinaryHeap<&'static str> = table.into_iter().flat_map(|table| table.all_names()).collect();
    names.into_sorted_vec().into_iter()
}

/// Returns the keys of the [`Supply`] that conversions from one revision to another use, in order.
///
/// # Errors
/// The table of a revision on the way can't be read. Generated tables always can.
pub fn supply_keys<R: ProtocolRevision>(from: R, to: R) -> Result<BTreeSet<&'static str>, Unrepresentable> {
    let (earlier, later) = (from.index().min(to.index()), from.index().max(to.index()));
    let mut keys = BTreeSet::new();
    for index in earlier + 1..=later {
        let table = R::protocol().table(index)?;
        let rows = if from.index() < to.index() {
            &table.up
        } else {
            &table.down
        };
        keys.extend(rows.iter().flat_map(Rows::supply_keys));
    }
    Ok(keys)
}

impl<R: ProtocolRevision> TranslateError<R> {
    /// Returns the JSON-RPC error code for a peer.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::error_code::METHOD_NOT_FOUND,
            Self::Invalid(_) => mcp_wire::error_code::INVALID_PARAMS,
            Self::Unrepresentable(error) => error.code(),
        }
    }

    /// Returns the path to the part of the value that can't be translated.
    #[must_use]
    pub fn path(&self) -> mcp_wire::Path {
        match self {
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } => mcp_wire::Path::default(),
            Self::Invalid(error) => error.path(),
            Self::Unrepresentable(error) => error.path(),
        }
    }

    /// Returns the message without the path.
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

    /// Returns the key by which a [`Supply`] could provide the missing member. `None` for other errors.
    #[must_use]
    pub fn supply_key(&self) -> Option<&'static str> {
        match self {
            Self::Unrepresentable(error) => error.supply_key(),
            Self::UnknownDefinition { .. } | Self::NoCounterpart { .. } | Self::Invalid(_) => None,
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
