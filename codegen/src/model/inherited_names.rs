//! The names that a revision gives the methods and members of earlier revisions to which facts and roles refer.
//!
//! A name that is gone has a successor only if there is exactly one candidate. Otherwise it stays, and is reported.

use std::collections::{BTreeMap, BTreeSet};

use super::unions_of_messages::method_constant;
use crate::facts::{MirroredArguments, Mirrors};
use crate::load::Document;
use crate::messages::RESPONSES;
use crate::normalise::{DefinitionShape, NormalisedRevision, Property, Shape, Shapes};

/// A value of the earlier revision, and the corresponding one of the later.
type Both<T> = [T; 2];

/// The members of an object, by their names.
type Members<'s> = &'s BTreeMap<String, Property>;

/// The names of two adjacent revisions.
pub(super) struct Successors<'s> {
    shapes: Both<&'s Shapes>,
    /// The official schemas: corrections can differ.
    official: Both<&'s Document>,
    /// The definitions of messages by their methods.
    messages: Both<BTreeMap<&'s str, &'s DefinitionShape>>,
    /// The objects of definitions that have the same name, and those in members of these that have the same name.
    objects: Vec<Both<Members<'s>>>,
}

impl<'s> Successors<'s> {
    pub(super) fn new(earlier: &'s NormalisedRevision, later: &'s NormalisedRevision) -> Self {
        let shapes = [earlier, later].map(|revision| &*revision.schema.shapes);
        let [before, mut after] = shapes.map(|shapes| {
            let definitions = shapes.definitions.values();
            let by_name = definitions.map(|definition| (definition.name.as_str(), &definition.node));
            by_name.collect::<BTreeMap<_, _>>()
        });
        let definitions = before.into_iter();
        let definitions = definitions.filter_map(|(name, node)| Some([node, after.remove(name)?]));
        let (mut waiting, mut objects) = (Vec::from_iter(definitions), Vec::new());
        while let Some(nodes) = waiting.pop() {
            if let [Shape::Object(earlier), Shape::Object(later)] = nodes.map(|node| &node.shape) {
                objects.push([earlier, later]);
                let members = earlier.iter();
                waiting.extend(members.filter_map(|(name, member)| Some([&member.node, &later.get(name)?.node])));
            }
        }
        Self {
            shapes,
            objects,
            messages: shapes.map(messages),
            official: [earlier, later].map(|revision| &revision.documents.schema),
        }
    }

    /// Returns the new name of a method that is gone: that of the message with the same definition.
    pub(super) fn new_method(&self, method: &str) -> Option<&'s str> {
        let [earlier, later] = &self.messages;
        let definition = &earlier.get(method).filter(|_| !later.contains_key(method))?.name;
        let mut same = later.iter().filter(|(_, message)| message.name == *definition);
        same.next().map(|(new, _)| *new)
    }

    /// Returns the new name of a member that is gone, if all objects that had it agree on it.
    ///
    /// The member must be required, refer to a definition, or have only another spelling: other members can have the same
    /// schema by chance.
    pub(super) fn new_member(&self, name: &str) -> Option<String> {
        let is_distinct = |member: &Property| member.required || matches!(member.node.shape, Shape::Reference(_));
        let is_respelled = |later: Members<'s>| later.keys().any(|new| is_spelled_alike(name, new));
        let objects = self.objects.iter().filter(|[earlier, later]| {
            let member = earlier.get(name);
            member.is_some_and(|member| is_distinct(member) || is_respelled(later))
        });
        let names = objects.map(|objects| self.member(objects.map(Some), name));
        let names: BTreeSet<String> = names.filter(|new| new != name).collect();
        let [name] = Vec::from_iter(names).try_into().ok()?;
        Some(name)
    }

    /// Returns headers of the earlier revision with the names of the later one.
    pub(super) fn mirrors(&self, mirrors: Mirrors) -> Mirrors {
        let of_method = |(method, param): (String, String)| {
            let methods = self.method(method);
            let param = self.member(self.params(&methods), &param);
            let [_, method] = methods;
            (method, param)
        };
        let params = mirrors.params.into_iter();
        let params = params.map(|(header, methods)| (header, methods.into_iter().map(of_method).collect()));
        Mirrors {
            params: params.collect(),
            arguments: mirrors.arguments.map(|arguments| self.arguments(arguments)),
            ..mirrors
        }
    }

    fn arguments(&self, mut arguments: MirroredArguments) -> MirroredArguments {
        let MirroredArguments { call, list, .. } = &mut arguments;
        let methods = self.method(std::mem::take(&mut call.method));
        let params = self.params(&methods);
        [_, call.method] = methods;
        for name in [&mut call.name, &mut call.arguments] {
            *name = self.member(params, name);
        }
        let methods = self.method(std::mem::take(&mut list.method));
        let (params, results) = (self.params(&methods), self.results(&methods));
        [_, list.method] = methods;
        let items = [list.items.clone(), self.member(results, &list.items)];
        let elements = self.elements(results, &items);
        [_, list.items] = items;
        for (name, objects) in [
            (&mut list.cursor, params),
            (&mut list.next, results),
            (&mut list.name, elements),
            (&mut list.schema, elements),
        ] {
            *name = self.member(objects, name);
        }
        arguments
    }

    /// Returns a method, and that of the request with the same definition, or the only new one with the same parameters.
    fn method(&self, method: String) -> Both<String> {
        let of_same_parameters = || current_name(&method, [0, 1].map(|index| self.parameter_names(index)));
        let successor = self.new_method(&method).map_or_else(of_same_parameters, str::to_owned);
        [method, successor]
    }

    /// Returns the name of a member in the later object: the same, or that of the only new member with the same schema.
    fn member(&self, objects: Both<Option<Members<'s>>>, name: &str) -> String {
        let [earlier, later] = [0, 1].map(|index| {
            let members = objects[index].into_iter().flatten();
            let schemas = members.map(|(name, member)| {
                let schema = self.official[index].get(&member.node.pointer);
                (name.clone(), (schema, member.required))
            });
            schemas.collect()
        });
        current_name(name, [earlier, later])
    }

    fn parameter_names(&self, index: usize) -> BTreeMap<String, Vec<&'s String>> {
        let methods = self.messages[index].iter();
        let named = methods.map(|(method, message)| {
            let params = self.params_of(index, message);
            (
                (*method).to_owned(),
                params.into_iter().flat_map(BTreeMap::keys).collect(),
            )
        });
        named.collect()
    }

    fn params(&self, methods: &Both<String>) -> Both<Option<Members<'s>>> {
        [0, 1].map(|index| self.params_of(index, self.messages[index].get(&*methods[index])?))
    }

    fn params_of(&self, index: usize, message: &'s DefinitionShape) -> Option<Members<'s>> {
        let shapes = self.shapes[index];
        shapes.members(&shapes.members(&message.node)?.get("params")?.node)
    }

    fn results(&self, methods: &Both<String>) -> Both<Option<Members<'s>>> {
        [0, 1].map(|index| {
            let shapes = self.shapes[index];
            let request = &self.messages[index].get(&*methods[index])?.name;
            let stem = request.strip_suffix("Request")?;
            let members = |end: &str| {
                let name = format!("{stem}{end}");
                let mut definitions = shapes.definitions.values();
                shapes.members(&definitions.find(|definition| definition.name == name)?.node)
            };
            // A result with another name is the one in the response.
            let in_response = |end: &&str| shapes.members(&members(end)?.get("result")?.node);
            members("Result").or_else(|| RESPONSES.iter().find_map(in_response))
        })
    }

    /// Returns the members of the elements of lists.
    fn elements(&self, objects: Both<Option<Members<'s>>>, lists: &Both<String>) -> Both<Option<Members<'s>>> {
        [0, 1].map(|index| {
            let shapes = self.shapes[index];
            match shapes.shape(&objects[index]?.get(&lists[index])?.node) {
                Shape::List(element) => shapes.members(element),
                _ => None,
            }
        })
    }
}

fn messages(shapes: &Shapes) -> BTreeMap<&str, &DefinitionShape> {
    let definitions = shapes.definitions.values().filter(|definition| definition.official);
    let messages = definitions.filter_map(|definition| Some((method_constant(shapes, &definition.node)?, definition)));
    messages.collect()
}

/// Returns a name that is still there, or else the new name with an equal value: the only one, unless another name with such
/// a value is gone too, or the only one with the same letters and digits.
pub(crate) fn current_name<T: PartialEq>(name: &str, [earlier, later]: Both<BTreeMap<String, T>>) -> String {
    let alone = |own: &BTreeMap<String, T>, other: &BTreeMap<String, T>| -> Vec<String> {
        let is_alone = |(own, value): &(&String, &T)| !other.contains_key(*own) && Some(*value) == earlier.get(name);
        own.iter().filter(is_alone).map(|(own, _)| own.clone()).collect()
    };
    let (gone, mut new) = (alone(&earlier, &later), alone(&later, &earlier));
    if new.len() > 1 || gone.len() > 1 {
        new.retain(|new| is_spelled_alike(name, new));
    }
    match &new[..] {
        [new] if gone.iter().any(|gone| gone == name) => new.clone(),
        _ => name.to_owned(),
    }
}

/// Whether two names have the same letters and digits, such as `listChanged` and `list_changed`.
pub(crate) fn is_spelled_alike(one: &str, other: &str) -> bool {
    letters(one) == letters(other)
}

/// Returns the letters and digits of a name, in lower case.
pub(crate) fn letters(name: &str) -> String {
    name.to_lowercase().replace(|sign: char| !sign.is_alphanumeric(), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_new_names_the_one_with_the_same_letters_counts() {
        let named = |names: &[&str]| {
            names
                .iter()
                .map(|name| ((*name).to_owned(), ()))
                .collect::<BTreeMap<_, _>>()
        };
        let now = |name: &str, later: &[&str]| current_name(name, [named(&["toolsChanged", "size"]), named(later)]);
        assert_eq!(now("toolsChanged", &["tools_changed", "length"]), "tools_changed");
        assert_eq!(now("size", &["tools_changed", "length"]), "size");
        assert_eq!(now("size", &["toolsChanged", "length"]), "length");
    }
}
