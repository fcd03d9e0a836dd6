//! Validation of a JSON text while it is read, which takes no memory for the value. It only determines whether the text
//! is valid.

use crate::{JsonType, Source};

use super::evaluate::Validation;
use super::node::{Members, Node, NodeId, Rule, TypeSet};
use super::violations::Location;

/// The rules of a schema for an array or an object, if each part of the value can be validated separately.
#[derive(Default)]
struct PartByPart<'n> {
    types: Option<TypeSet>,
    required: &'n [String],
    members: Option<&'n Members>,
    elements: Option<NodeId>,
}

impl Validation<'_> {
    /// Reads the next value.
    ///
    /// # Errors
    /// When it is invalid, or the source can't read it. The error doesn't have the reason: validate the value for that.
    pub(super) fn accept<'a, S: Source<'a>>(&self, mut id: NodeId, source: &mut S) -> Result<(), S::Error> {
        while let [Rule::Ref(target)] = *self.nodes[id].rules {
            id = target;
        }
        let node = &self.nodes[id];
        if node.rules.is_empty() {
            return source.skip();
        }
        let accepted = match (source.json_type()?, part_by_part(node)) {
            (JsonType::Object, Some(rules)) => rules.admit(JsonType::Object) && self.accept_object(&rules, source)?,
            (JsonType::Array, Some(rules)) => {
                source.array(|source| self.accept_part(rules.elements, source))?;
                rules.admit(JsonType::Array)
            }
            (found @ (JsonType::String | JsonType::Boolean | JsonType::Null), Some(rules)) => {
                source.skip()?;
                rules.admit(found)
            }
            _ => {
                let value = source.value()?;
                // The value is a temporary one, whose address isn't stable, so it has a separate validation.
                Validation::new(self.nodes, self.budget).is_valid(id, &value, Location::Root)
            }
        };
        match accepted {
            true => Ok(()),
            false => Err(source.refuse()),
        }
    }

    /// Reads an object, and returns whether it has the required members.
    fn accept_object<'a, S: Source<'a>>(&self, rules: &PartByPart<'_>, source: &mut S) -> Result<bool, S::Error> {
        let names = source.object(|source, name| {
            let node = rules.members.and_then(|members| members.named(name).or(members.others));
            self.accept_part(node, source)
        })?;
        Ok(rules
            .required
            .iter()
            .all(|required| names.iter().any(|name| name == required)))
    }

    fn accept_part<'a, S: Source<'a>>(&self, node: Option<NodeId>, source: &mut S) -> Result<(), S::Error> {
        match node {
            Some(node) => self.accept(node, source),
            None => source.skip(),
        }
    }
}

/// Returns the rules of a node by part. `None` if a rule needs the whole value.
fn part_by_part(node: &Node) -> Option<PartByPart<'_>> {
    let mut parts = PartByPart::default();
    for rule in &node.rules {
        match rule {
            Rule::Type(types) => parts.types = Some(*types),
            Rule::Required(names) => parts.required = names,
            Rule::Members(members) if members.patterns.is_empty() => parts.members = Some(members),
            Rule::Items(items) if items.prefix.is_empty() => parts.elements = items.rest,
            _ => return None,
        }
    }
    Some(parts)
}

impl PartByPart<'_> {
    /// Whether values of this type are valid. For numbers, this can depend on the value.
    fn admit(&self, found: JsonType) -> bool {
        self.types.is_none_or(|types| types.admits_type(found))
    }
}
