//! Reduces a corrected schema to shapes. A shape describes what a value looks like, independently of JSON Schema's many
//! ways to express it.
//!
//! A shape is never narrower than the schema. If the schema requires more than a Rust type can express, the shape is
//! wider, and the validator, which uses the schema itself, is exact.

mod added_schemas;
mod all_of;
pub(crate) mod envelope;
mod implied;
mod references;
mod sent_messages;
mod shape_builder;
mod union;
mod written_out;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcp_json_schema::{JsonType, Validator, all_definitions, pointer};
use serde::Serialize;
use serde_json::Value;

pub(crate) use all_of::accepts_everything;
pub(crate) use envelope::{constant, envelope_of};
pub(crate) use implied::is_annotation;
pub(crate) use references::{follow, name_of, targets};
pub(crate) use sent_messages::{methods_in_union, methods_of};
pub(crate) use shape_builder::only_requires;

use crate::extension::combine;
use crate::load::{Docs, Document, Revision, RevisionDocuments, check_document, without_unused_definitions};
use crate::memo::Memo;
use crate::messages::MessageKind;
use crate::overlay::{Overlay, apply_overlay};
use crate::problem::Problems;

/// A revision or an extension, reduced to shapes.
#[derive(Debug)]
pub(crate) struct NormalisedRevision {
    pub(crate) documents: RevisionDocuments,
    pub(crate) schema: NormalisedSchema,
    pub(crate) docs: Docs,
}

/// A schema, reduced to shapes.
#[derive(Debug, Clone)]
pub(crate) struct NormalisedSchema {
    /// The corrected schema, for the places of problems.
    pub(crate) document: Document,
    pub(crate) shapes: Arc<Shapes>,
    /// The validator of the shapes' schema.
    pub(crate) validator: Arc<Validator>,
    /// Facts that the schema can't express.
    pub(crate) overlay: Arc<Overlay>,
    /// The pointers of definitions that an extension imports from the revision that it extends.
    pub(crate) imported: BTreeSet<String>,
}

/// A cache of schemas reduced to shapes, by their input: a schema, its overlay, and the revision that it extends.
pub(crate) type NormalisedSchemas = Memo<(Document, Document, Option<Core>), Result<NormalisedSchema, Problems>>;

/// A revision that an extension extends, its official schema, and its corrected one.
type Core = (Revision, Document, Document);

/// Corrects the schema of a revision, or of an extension of `core`, and reduces it to shapes.
///
/// # Errors
/// All problems of the overlay or the corrected schema, everything that the validator in the generated crate doesn't
/// support, and definitions of an extension with the name of one of the revision's and another shape.
pub(crate) fn normalise_revision(
    documents: &RevisionDocuments,
    core: Option<&NormalisedRevision>,
    known: &NormalisedSchemas,
) -> Result<NormalisedSchema, Problems> {
    let core = core.map(|NormalisedRevision { documents, schema, .. }| {
        let revision = documents.entry.revision.clone();
        (revision, documents.schema.clone(), schema.document.clone())
    });
    let input = (documents.schema.clone(), documents.overlay.clone(), core);
    known.get(input, |(schema, overlay, core)| {
        let overlay = Overlay::of(overlay.clone())?;
        let corrected = apply_overlay(schema, &overlay)?;
        let (document, imported) = match core {
            None => (without_unused_definitions(corrected), BTreeSet::new()),
            Some((revision, official, core)) => combine((schema, corrected), &overlay, (revision, official, core))?,
        };
        check_document(&document)?;
        let shapes = normalise_schema(document.root());
        let validator = Validator::new(&shapes.schema).map_err(|error| {
            let found = error.problems().iter();
            Problems::from_iter(found.map(|found| document.problem(&found.pointer, found.message.clone())))
        })?;
        let unfit = written_out::unfit(document.root(), &shapes).into_iter();
        Problems::check(unfit.map(|problem| document.locate(problem)).collect())?;
        Ok(NormalisedSchema {
            document,
            shapes: Arc::new(shapes),
            validator: Arc::new(validator),
            overlay: Arc::new(overlay),
            imported,
        })
    })
}

/// A schema, reduced to the shape of its values and the overlay's instructions for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    /// Its pointer in the schema.
    pub(crate) pointer: String,
    /// The Rust name that the overlay gives its type.
    pub(crate) name: Option<String>,
    /// The Rust name that the overlay gives its field, if it is a member.
    pub(crate) field: Option<String>,
    /// The variant for a value without a tag, as the overlay defines it.
    pub(crate) default_variant: Option<String>,
    /// The value that the overlay gives it, if it is a member that distinguishes its object from others.
    pub(crate) tag: Option<String>,
    /// The value that the overlay gives it by default, if it is a required member.
    pub(crate) preset: Option<Value>,
    /// Whether the overlay declares that it isn't a request or notification, although it looks like one.
    pub(crate) is_no_method: bool,
    /// The description, if the schema contains its prose.
    pub(crate) description: Option<String>,
    pub(crate) shape: Shape,
}

impl Node {
    fn at(pointer: &str, shape: Shape) -> Self {
        Self {
            pointer: pointer.to_owned(),
            shape,
            ..Self::default()
        }
    }
}

/// The shape of a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Shape {
    #[default]
    Any,
    Null,
    Boolean,
    String,
    Integer,
    Number,
    Constant(Scalar),
    /// A string of which some values are known.
    Strings(Strings),
    /// An object without declared members, or whose members are kept verbatim.
    RawObject,
    List(Box<Node>),
    /// An object with any keys, whose values have one shape.
    Map(Box<Node>),
    Object(BTreeMap<String, Property>),
    /// One of at least two shapes. None of them is a union or null, except by reference.
    Union(Vec<Node>),
    Nullable(Box<Node>),
    Reference(String),
}

/// A constant scalar.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    String(String),
    Integer(i64),
    Boolean(bool),
}

impl Scalar {
    pub(crate) fn json_type(&self) -> JsonType {
        match self {
            Self::String(_) => JsonType::String,
            Self::Integer(_) => JsonType::Number,
            Self::Boolean(_) => JsonType::Boolean,
        }
    }

    /// Returns its text, if it is a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }
}

/// The known values of a string.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Strings {
    /// In the schema's order.
    pub(crate) values: Vec<String>,
    /// Whether that order is meaningful, such as severity.
    pub(crate) ordered: bool,
    /// Whether other values are valid too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
}

/// A declared member.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Property {
    pub(crate) node: Node,
    pub(crate) required: bool,
}

/// A revision's schema, reduced to shapes.
#[derive(Debug, Clone)]
pub(crate) struct Shapes {
    pub(crate) definitions: BTreeMap<String, DefinitionShape>,
    /// The schema that the validator uses: corrected, and without the envelope around methods.
    pub(crate) schema: Arc<Value>,
}

/// A definition, reduced to shapes.
#[derive(Debug, Clone)]
pub(crate) struct DefinitionShape {
    pub(crate) name: String,
    /// Whether the schema defines it, rather than merely refers to it.
    pub(crate) official: bool,
    pub(crate) node: Node,
    /// The envelope that the schema repeats in it.
    pub(crate) envelope: Option<MessageKind>,
}

fn normalise_schema(corrected: &Value) -> Shapes {
    let mut schema = corrected.clone();
    sent_messages::separate_methods(&mut schema);
    let envelopes = envelope::take_envelopes(&mut schema);
    let builder = shape_builder::ShapeBuilder::new(&schema);
    let mut shapes = BTreeMap::new();
    for (pointer, name, definition) in all_definitions(&schema) {
        let shape = DefinitionShape {
            name: name.to_owned(),
            official: true,
            node: builder.definition(definition, &pointer),
            envelope: envelopes.get(&pointer).map(|(envelope, _)| *envelope),
        };
        shapes.insert(pointer, shape);
    }
    // A reference can point anywhere in the schema. Its target is treated as a definition without a name.
    for place in targets(&schema) {
        if let (false, Some(target)) = (shapes.contains_key(&place), pointer::resolve(&schema, &place)) {
            let shape = DefinitionShape {
                name: name_of(&place),
                official: false,
                node: builder.build(target, &place),
                envelope: None,
            };
            shapes.insert(place, shape);
        }
    }
    let mut added = builder.added.into_schemas();
    added.extend(envelope::give_back(&envelopes, &mut schema));
    added_schemas::insert_schemas(added, &mut schema);
    Shapes {
        definitions: shapes,
        schema: Arc::new(schema),
    }
}
