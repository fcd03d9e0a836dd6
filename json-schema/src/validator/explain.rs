//! Explains why a value fits no alternative of a union, by the violations of the intended alternative.

use super::context::Context;
use super::evaluate::Validation;
use super::node::{Members, NodeId, Rule};
use super::violation::{Violation, constants, found};
use super::violations::{Flow, Location, Violations};
use crate::json::Json;

impl Validation<'_> {
    /// Reports the violations of the intended alternative, or that no alternative fits if the intended one is unclear.
    #[cold]
    pub(super) fn explain(
        &self,
        keyword: &str,
        alternatives: &[NodeId],
        context: Context<'_>,
        violations: &mut Violations,
    ) -> Flow {
        let mut meant = alternatives
            .iter()
            .filter(|node| self.may_be_meant(**node, context.value));
        if let (Some(only), None) = (meant.next(), meant.next()) {
            return self.validate(*only, context.value, context.location, violations);
        }
        if let Some(violation) = self.unknown_tag(keyword, alternatives, context) {
            return violations.push(violation);
        }
        let choices = || self.distinct(self.choices_of_all(alternatives)?);
        let expected = match alternatives {
            [only] => return self.validate(*only, context.value, context.location, violations),
            _ => match choices() {
                Some(choices) => constants(choices),
                None => format!("one of {} alternatives", alternatives.len()),
            },
        };
        violations.push(context.violation(keyword, expected, found(context.value)))
    }

    /// Whether the value has the type and the constants of this alternative. `true` once the budget for explanations is
    /// used up.
    fn may_be_meant(&self, node: NodeId, value: &Json<'_>) -> bool {
        let rules = &self.nodes[node].rules;
        let Some(_level) = self.budget.explain(rules.len()) else {
            return true;
        };
        let required = rules.iter().filter_map(|rule| match rule {
            Rule::Required(names) => Some(names),
            _ => None,
        });
        let required_names: usize = required.clone().map(Vec::len).sum();
        rules.iter().all(|rule| match rule {
            Rule::Never => false,
            Rule::Type(types) => types.admits(value),
            Rule::Const(_) | Rule::Enum(_) => self.admitted_constant(node, value),
            Rule::Ref(target) => self.may_be_meant(*target, value),
            Rule::AllOf(nodes) => nodes.iter().all(|node| self.may_be_meant(*node, value)),
            Rule::AnyOf(nodes) | Rule::OneOf(nodes) => nodes.iter().any(|node| self.may_be_meant(*node, value)),
            Rule::Members(Members { named, .. }) => {
                let _spent = self.budget.explain(named.len() * (1 + required_names / 16));
                named
                    .iter()
                    .all(|(name, member)| match (self.constants_of(*member), value.get(name)) {
                        (None, _) => true,
                        (Some(_), Some(value)) => self.admitted_constant(*member, value),
                        (Some(_), None) => !required.clone().any(|names| names.contains(name)),
                    })
            }
            _ => true,
        })
    }

    fn admitted_constant(&self, node: NodeId, value: &Json<'_>) -> bool {
        self.constants_of(node)
            .is_none_or(|constants| constants.contains(&value))
    }

    /// Returns the violation of a tag whose value no alternative has.
    fn unknown_tag(&self, keyword: &str, alternatives: &[NodeId], context: Context<'_>) -> Option<Violation> {
        let Json::Object(members) = context.value else {
            return None;
        };
        let objects: Vec<NodeId> = alternatives
            .iter()
            .copied()
            .filter(|node| self.admits_type(*node, context.value))
            .collect();
        members.iter().find_map(|(name, value)| {
            let tags: Vec<Vec<&Json<'_>>> = objects
                .iter()
                .map(|node| self.tags_of(*node, name))
                .collect::<Option<_>>()?;
            let distinct = self.distinct(tags.concat())?;
            if distinct.is_empty() || distinct.contains(&value) {
                return None;
            }
            let location = Location::Member(&context.location, name);
            let context = Context { location, ..context };
            Some(context.violation(keyword, constants(distinct), found(value)))
        })
    }

    /// Returns the values without those that occur again.
    fn distinct<'j>(&self, values: Vec<&'j Json<'j>>) -> Option<Vec<&'j Json<'j>>> {
        let mut distinct: Vec<&Json<'_>> = Vec::new();
        for value in values {
            let _level = self.budget.explain(distinct.len())?;
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        Some(distinct)
    }

    /// Returns the values that alternatives allow, if they are all constants.
    fn choices_of_all(&self, alternatives: &[NodeId]) -> Option<Vec<&Json<'_>>> {
        let choices = alternatives.iter().map(|node| self.choices_of(*node));
        let choices: Vec<Vec<&Json<'_>>> = choices.collect::<Option<_>>()?;
        Some(choices.concat())
    }

    /// Returns the values that an alternative allows, if it is `null`, a constant, or a union of these.
    fn choices_of(&self, node: NodeId) -> Option<Vec<&Json<'_>>> {
        const NULL: &Json<'static> = &Json::Null;
        let rules = &self.nodes[node].rules;
        let _level = self.budget.explain(rules.len())?;
        let choices = rules.iter().find_map(|rule| match rule {
            Rule::Type(types) if types.is_null() => Some(vec![NULL]),
            Rule::Ref(target) => self.choices_of(*target),
            Rule::AnyOf(nodes) | Rule::OneOf(nodes) => self.choices_of_all(nodes),
            _ => None,
        });
        choices.or_else(|| self.constants_of(node))
    }

    fn admits_type(&self, node: NodeId, value: &Json<'_>) -> bool {
        let rules = &self.nodes[node].rules;
        let Some(_level) = self.budget.explain(rules.len()) else {
            return true;
        };
        rules.iter().all(|rule| match rule {
            Rule::Type(types) => types.admits(value),
            Rule::Ref(target) => self.admits_type(*target, value),
            _ => true,
        })
    }

    /// Returns the constants of the member `name` in an alternative, which can be a union itself.
    fn tags_of(&self, node: NodeId, name: &str) -> Option<Vec<&Json<'_>>> {
        let rules = &self.nodes[node].rules;
        let _level = self.budget.explain(rules.len())?;
        rules.iter().find_map(|rule| match rule {
            Rule::Members(members) => self.constants_of(members.named(name)?),
            Rule::Ref(target) => self.tags_of(*target, name),
            Rule::AllOf(nodes) => nodes.iter().find_map(|node| self.tags_of(*node, name)),
            Rule::AnyOf(nodes) | Rule::OneOf(nodes) => nodes
                .iter()
                .map(|node| self.tags_of(*node, name))
                .collect::<Option<Vec<_>>>()
                .map(|tags| tags.concat()),
            _ => None,
        })
    }

    /// Returns the constants of a node, if it has any.
    fn constants_of(&self, node: NodeId) -> Option<Vec<&Json<'_>>> {
        let rules = &self.nodes[node].rules;
        let _level = self.budget.explain(rules.len())?;
        rules.iter().find_map(|rule| match rule {
            Rule::Const(constant @ Json::String(_)) => Some(vec![constant]),
            Rule::Enum(constants) if constants.iter().all(|constant| matches!(constant, Json::String(_))) => {
                let _spent = self.budget.explain(constants.len())?;
                Some(constants.iter().collect())
            }
            Rule::Ref(target) => self.constants_of(*target),
            _ => None,
        })
    }
}
