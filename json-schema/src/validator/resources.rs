//! The schema resources of a document: base URIs, anchors, and the targets of references.
//!
//! The place of a schema is its JSON Pointer, such as `#/$defs/Tool`. Places in a meta-schema have its URI before the
//! `#`.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{DEFINITIONS, Dialect, UnknownDialect, pointer, subschemas, uri, walk};

use super::error::{MAX_PROBLEMS, Problem, SchemaError, unexpected};
use super::memory::{Memory, TooLarge};
use super::meta_schemas::meta_schema;

/// The position of a resource in [`Resources::list`]. Resources are never removed.
pub(super) type ResourceId = usize;

/// Returns the schemas of a document with a `$ref` into the document, and the target of each, as pointers. `$id` and
/// `$anchor` are followed.
///
/// # Errors
/// When an identifier is malformed or belongs to two schemas.
///
/// ```
/// use mcp_json_schema::reference_targets;
/// use serde_json::json;
///
/// let document = json!({
///     "$defs": {"Size": {"$anchor": "size", "type": "integer"}, "Box": {"$id": "box.json", "items": {"$ref": "/#size"}}},
///     "$id": "https://example.org/",
///     "$ref": "box.json",
/// });
/// let targets = reference_targets(&document).unwrap();
/// let targets: Vec<String> = targets.into_iter().map(|(from, to)| format!("{from} → {to}")).collect();
/// assert_eq!(targets, ["# → #/$defs/Box", "#/$defs/Box/items → #/$defs/Size"]);
/// ```
pub fn reference_targets(document: &Value) -> Result<Vec<(String, String)>, SchemaError> {
    let mut resources = Resources::of(document).map_err(SchemaError::new)?;
    let mut found = Vec::new();
    walk(document, |at, schema| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.zip(resources.around(at));
        let target = target.and_then(|(reference, from)| resources.resolve(from, reference).ok());
        // The places in other documents, which are meta-schemas, have a URI before the `#`.
        if let Some(target) = target.filter(|target| target.at.starts_with('#')) {
            found.push((at.to_owned(), target.at));
        }
    });
    Ok(found)
}

/// A schema with its own base URI, and the schemas inside it without one.
pub(super) struct Resource<'a> {
    /// The base URI without a fragment. Empty if the document has none.
    base: String,
    pub(super) dialect: Dialect,
    /// The place of its root.
    root: String,
    /// The anchors by name.
    anchors: HashMap<&'a str, Anchor>,
}

struct Anchor {
    at: String,
    is_dynamic: bool,
}

impl Resource<'_> {
    /// Returns the names and places of the dynamic anchors.
    pub(super) fn dynamic_anchors(&self) -> impl Iterator<Item = (&str, &str)> {
        let dynamic = self.anchors.iter().filter(|(_, anchor)| anchor.is_dynamic);
        dynamic.map(|(name, anchor)| (*name, anchor.at.as_str()))
    }
}

/// The target of a reference.
pub(super) struct Target<'a> {
    pub(super) at: String,
    pub(super) resource: ResourceId,
    pub(super) schema: &'a Value,
    /// The name of the dynamic anchor, if the reference names one.
    pub(super) dynamic_anchor: Option<String>,
}

/// All resources of a document, and of the meta-schemas that it refers to.
pub(super) struct Resources<'a> {
    /// The documents, by the text before the `#` in their places.
    documents: HashMap<String, &'a Value>,
    list: Vec<Resource<'a>>,
    by_uri: HashMap<String, ResourceId>,
    by_root: HashMap<String, ResourceId>,
    /// The memory that is left for compiling the document.
    pub(super) memory: Memory,
}

impl<'a> Resources<'a> {
    /// Finds the resources of a document. The first is that of its root.
    pub(super) fn of(document: &'a Value) -> Result<Self, Vec<Problem>> {
        let mut resources = Self {
            documents: HashMap::new(),
            list: Vec::new(),
            by_uri: HashMap::new(),
            by_root: HashMap::new(),
            memory: Memory::new(),
        };
        let problems = resources.add_document("", document);
        if problems.is_empty() {
            Ok(resources)
        } else {
            Err(problems)
        }
    }

    pub(super) fn get(&self, resource: ResourceId) -> &Resource<'a> {
        &self.list[resource]
    }

    pub(super) fn schema_at(&self, at: &str) -> Option<&'a Value> {
        let (document, path) = at.split_once('#')?;
        self.documents.get(document)?.pointer(path)
    }

    /// Returns the resource whose root is at `at`, if there is one.
    pub(super) fn at_root(&self, at: &str) -> Option<ResourceId> {
        // Most documents are one resource.
        if self.list.len() == 1 && at.len() > 1 {
            return None;
        }
        self.by_root.get(at).copied()
    }

    /// Resolves a reference in a schema of the resource `from`.
    pub(super) fn resolve(&mut self, from: ResourceId, reference: &str) -> Result<Target<'a>, String> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if address.is_empty() {
            from
        } else {
            self.at_uri(&uri::resolve(&self.list[from].base, address), reference)?
        };
        let fragment = pointer::percent_decode(fragment);
        let fragment = fragment.ok_or_else(|| format!("`{reference}` isn't UTF-8 after its escapes are decoded"))?;
        if !(fragment.is_empty() || fragment.starts_with('/')) {
            return self.anchor(resource, fragment, reference);
        }
        let at = format!("{}{fragment}", self.list[resource].root);
        let schema = self.schema_at(&at).ok_or_else(|| format!("nothing is at `{at}`"))?;
        let resource = self.around(&at).unwrap_or(resource);
        Ok(Target {
            at,
            resource,
            schema,
            dynamic_anchor: None,
        })
    }

    fn anchor(&self, resource: ResourceId, name: String, reference: &str) -> Result<Target<'a>, String> {
        let anchor = self.list[resource].anchors.get(&*name);
        let anchor = anchor.ok_or_else(|| format!("no schema has the anchor that `{reference}` names"))?;
        let schema = self
            .schema_at(&anchor.at)
            .ok_or_else(|| format!("nothing is at `{}`", anchor.at))?;
        Ok(Target {
            at: anchor.at.clone(),
            resource,
            schema,
            dynamic_anchor: anchor.is_dynamic.then_some(name),
        })
    }

    fn at_uri(&mut self, address: &str, reference: &str) -> Result<ResourceId, String> {
        if let Some(known) = self.by_uri.get(address) {
            return Ok(*known);
        }
        let Some(document) = meta_schema(address) else {
            return Err(format!(
                "`{reference}` leads out of this document, and nothing is fetched: put the schema among the document's \
                 definitions, with `\"$id\": \"{address}\"`"
            ));
        };
        let resource = self.list.len();
        self.add_document(address, document);
        Ok(resource)
    }

    /// Returns the innermost resource that a place belongs to.
    fn around(&self, at: &str) -> Option<ResourceId> {
        let mut at = at;
        loop {
            if let Some(resource) = self.by_root.get(at) {
                return Some(*resource);
            }
            at = &at[..at
                .rfind('/')
                .filter(|slash| *slash > at.find('#').unwrap_or_default())?];
        }
    }

    fn add_document(&mut self, name: &str, document: &'a Value) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.documents.insert(name.to_owned(), document);
        let root = format!("{name}#");
        let first = self.list.len();
        match Dialect::of(document) {
            Ok(dialect) => {
                if let Err(too_large) = self.add_resource(name.to_owned(), dialect, root.clone()) {
                    return vec![too_large.into()];
                }
            }
            Err(unknown) => return vec![Problem::new(pointer::child(&root, "$schema"), unknown)],
        }
        let mut left = vec![(root, first, document)];
        while let Some((at, mut resource, schema)) = left.pop() {
            let dialect = self.list[resource].dialect;
            let keywords = schema.as_object();
            // Draft-07 ignores the keywords next to a reference, except for definitions.
            let is_reference =
                dialect == Dialect::Draft07 && keywords.is_some_and(|keywords| keywords.contains_key("$ref"));
            if let (Some(keywords), false) = (keywords, is_reference) {
                match self.identify(&at, keywords, resource) {
                    Ok(identified) => resource = identified,
                    Err(problem) if problems.len() < MAX_PROBLEMS => problems.push(problem),
                    Err(_) => {}
                }
            }
            let dialect = self.list[resource].dialect;
            for inner in subschemas(schema) {
                if dialect.knows(inner.keyword) && (!is_reference || DEFINITIONS.contains(&inner.keyword)) {
                    let mut at = at.clone();
                    inner.push_to(&mut at);
                    if let Err(too_large) = self.memory.charge_name(&at) {
                        return vec![too_large.into()];
                    }
                    left.push((at, resource, inner.schema));
                }
            }
        }
        match self.memory.check() {
            Ok(()) => problems,
            Err(too_large) => vec![too_large.into()],
        }
    }

    fn add_resource(&mut self, base: String, dialect: Dialect, root: String) -> Result<(), TooLarge> {
        self.memory.charge_name(&base)?;
        let resource = self.list.len();
        self.by_root.insert(root.clone(), resource);
        if !base.is_empty() {
            self.by_uri.insert(base.clone(), resource);
        }
        self.list.push(Resource {
            base,
            dialect,
            root,
            anchors: HashMap::new(),
        });
        Ok(())
    }

    /// Records a schema's identifiers, and returns the resource that it belongs to or is the root of.
    fn identify(
        &mut self,
        at: &str,
        keywords: &'a Map<String, Value>,
        around: ResourceId,
    ) -> Result<ResourceId, Problem> {
        let text = |keyword: &str| match keywords.get(keyword) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(value) => Err(Problem::new(pointer::child(at, keyword), unexpected("a string", value))),
        };
        let mut resource = around;
        let mut dialect = self.list[around].dialect;
        let (address, fragment) = text("$id")?.map_or(("", ""), |id| id.split_once('#').unwrap_or((id, "")));
        if !address.is_empty() {
            let base = uri::resolve(&self.list[around].base, address);
            if self.list[around].root == at {
                // The root of the document.
                self.memory.charge_name(&base)?;
                self.by_uri.insert(base.clone(), around);
                self.list[around].base = base;
            } else if self.by_uri.contains_key(&base) {
                let message = format!("`{base}` is the URI of another schema as well");
                return Err(Problem::new(pointer::child(at, "$id"), message));
            } else {
                if keywords.contains_key("$schema") {
                    dialect = text("$schema")?
                        .and_then(Dialect::from_uri)
                        .ok_or_else(|| Problem::new(pointer::child(at, "$schema"), UnknownDialect))?;
                }
                resource = self.list.len();
                self.add_resource(base, dialect, at.to_owned())?;
            }
        }
        if dialect == Dialect::Draft07 {
            // In draft-07, `$id` also defines anchors.
            return self.add_anchor(resource, fragment, at, false, "$id").map(|()| resource);
        }
        if !fragment.is_empty() {
            let message = "in 2020-12 this has no fragment: `$anchor` names a schema";
            return Err(Problem::new(pointer::child(at, "$id"), message));
        }
        self.add_anchor(resource, text("$anchor")?.unwrap_or_default(), at, false, "$anchor")?;
        let name = text("$dynamicAnchor")?.unwrap_or_default();
        self.add_anchor(resource, name, at, true, "$dynamicAnchor")?;
        Ok(resource)
    }

    fn add_anchor(
        &mut self,
        resource: ResourceId,
        name: &'a str,
        at: &str,
        is_dynamic: bool,
        keyword: &str,
    ) -> Result<(), Problem> {
        if name.is_empty() {
            return Ok(());
        }
        let anchors = &mut self.list[resource].anchors;
        if let Some(other) = anchors.get(name).filter(|other| other.at != at) {
            let message = format!("`{}` has the same anchor", other.at);
            return Err(Problem::new(pointer::child(at, keyword), message));
        }
        let at = at.to_owned();
        anchors.insert(name, Anchor { at, is_dynamic });
        Ok(())
    }
}
