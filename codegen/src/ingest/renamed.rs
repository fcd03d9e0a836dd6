//! Members and methods that a new revision seems to have renamed, and the rules that keep them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::moved_out::{moved_out, only_place, path, places_within};
use super::same_type::is_same;
use crate::adapt::{Plan, Rule, Rules, Step, plan_without_wrong, steps, text};
use crate::model::{
    Member, Method, Model, ModelledRevision, Struct, TypeKind, TypeRef, current_name, is_spelled_alike, letters,
};
use crate::normalise::Scalar;
use crate::problem::Problem;

/// Something that a new revision seems to have renamed.
struct Renamed {
    /// The places of the rule that keeps it.
    at: Vec<String>,
    /// The new name in that rule, or the path.
    new: String,
    /// What the new revision has.
    what: String,
    /// The types that have it: that of each place, or all types of a place for any type.
    types: Vec<String>,
    /// What conversions do without the rule.
    otherwise: &'static str,
}

impl Renamed {
    /// Returns the rule that keeps it at one of its places.
    fn rule(&self, at: &str) -> Rule {
        Rule::renames(at, &self.new, format!("#/suggested/{at}"))
    }

    /// Leaves out the places whose rules aren't among these, and returns whether there are others.
    fn retain(&mut self, rules: &[Rule]) -> bool {
        let is_kept: Vec<bool> = self.at.iter().map(|at| rules.contains(&self.rule(at))).collect();
        if self.at.len() == self.types.len() {
            let mut kept = is_kept.iter();
            self.types.retain(|_| kept.next() == Some(&true));
        }
        let mut kept = is_kept.iter();
        self.at.retain(|_| kept.next() == Some(&true));
        !self.at.is_empty()
    }

    /// Returns the warning about it.
    fn warning(&self, after: &ModelledRevision) -> Problem {
        let Self {
            at,
            new,
            what,
            otherwise,
            ..
        } = self;
        let types = match &self.types[..] {
            [] => String::new(),
            types => format!(" in {}", types.join(", ")),
        };
        let what = format!("{} has {what}{types}: conversions {otherwise}", after.model.revision);
        let action = format!("renamed: {}", json!(new));
        suggestion(after, what, "if it is the same", one_or_all(at), &action)
    }
}

/// Returns the place of a rule, or its list of places.
pub(super) fn one_or_all(places: &[String]) -> Value {
    match places {
        [only] => json!(only),
        several => json!(several),
    }
}

/// Returns a warning about a revision, with the line of a rule that applies on a condition.
pub(super) fn suggestion(
    after: &ModelledRevision,
    what: String,
    condition: &str,
    at: impl Into<Value>,
    action: &str,
) -> Problem {
    let help = format!(
        "{condition}, add this line under `rules` in the revision's adapt.yaml: \
         - {{at: {}, {action}, why: \"…\", link: \"https://…\"}}",
        at.into()
    );
    Problem::new(after.documents.rules.file(), what).help(help)
}

/// Returns a warning for each member and each method that a new revision doesn't have and seems to have by another name,
/// unless a rule or a role names it, and the conversions with the rules that the warnings suggest.
pub(super) fn renamed([before, after]: [&ModelledRevision; 2], plans: &[Plan; 2]) -> (Vec<Problem>, [Plan; 2]) {
    // They have been read before.
    let mut rules = Rules::of(after.documents.rules.clone()).unwrap_or_default();
    let mut suggested = suggested(before, after, &plans[0]);
    let own = suggested
        .iter()
        .flat_map(|renamed| renamed.at.iter().map(|at| renamed.rule(at)));
    rules.rules.extend(own);
    let plans = match suggested.is_empty() {
        true => plans.clone(),
        false => plan_without_wrong(before, after, &mut rules).0,
    };
    suggested.retain_mut(|renamed| renamed.retain(&rules.rules));
    (suggested.iter().map(|renamed| renamed.warning(after)).collect(), plans)
}

/// Returns what a new revision seems to have renamed, unless a rule or a role names it.
fn suggested(before: &ModelledRevision, after: &ModelledRevision, up: &Plan) -> Vec<Renamed> {
    let models = [&before.model, &after.model];
    let rules = after.documents.rules.root()["rules"].as_array();
    let is_ruled = |new: &str| rules.is_some_and(|rules| rules.iter().any(|rule| rule["renamed"] == new));
    let found = renamed_members(models, up).into_iter().chain(renamed_methods(models));
    let found = found.chain(renamed_values(models));
    found.filter(|found| !is_ruled(&found.new)).collect()
}

/// Returns each member that is gone, if each type that had it has one new member that could be the same.
fn renamed_members(models: [&Model; 2], up: &Plan) -> Vec<Renamed> {
    let mut found = BTreeMap::<(String, (&str, String)), Vec<&str>>::new();
    let mut gone = BTreeMap::<&str, usize>::new();
    for name in models[0].types.keys() {
        let ty = TypeRef::Named(name.clone());
        // A type of the same name, or else the only one that it is converted to.
        let mut others = up.conversions.keys().filter(|(from, _)| *from == ty).map(|(_, to)| to);
        let other = others
            .next()
            .filter(|_| others.next().is_none() && models[1].kind_of(&ty).is_none());
        let later = models[1].struct_of(other.unwrap_or(&ty));
        if let [Some(earlier), Some(later)] = [models[0].struct_of(&ty), later] {
            for member in earlier.members.iter().filter(|member| !later.declares(&member.name)) {
                *gone.entry(&member.name).or_default() += 1;
            }
            let objects = [earlier, later];
            let successors = successors(models, objects).into_iter();
            let successors = successors.map(|(old, new)| (old.to_owned(), new));
            for names in successors.chain(moved_out(models, objects)) {
                found.entry(names).or_default().push(name);
            }
        }
    }
    let has_role = |old: &str, new: &str| {
        let role = models[0].lifecycle.names.iter().find(|(_, name)| **name == old);
        role.is_some_and(|(role, _)| models[1].lifecycle.names.get(role).is_some_and(|name| name == new))
    };
    let found = found.into_iter().filter(|((old, (member, new)), _)| {
        let is_name = *new == text(&[Step::Member((*member).to_owned())]);
        !(is_name && has_role(old, member))
    });
    let renamed = found.map(|((old, (_, new)), types)| Renamed {
        // A rule for every type would also be about those that have lost the member in another way.
        at: match types.len() > 1 && gone.get(&*old) == Some(&types.len()) {
            true => vec![format!("*.{old}")],
            false => types.iter().map(|ty| format!("{ty}.{old}")).collect(),
        },
        what: format!("`{new}` instead of `{old}`"),
        types: types.into_iter().map(str::to_owned).collect(),
        otherwise: "lose or refuse the value",
        new,
    });
    renamed.collect()
}

/// Returns the members that the later object doesn't declare, each with the only new one that is like it, and like no
/// other, and its name. A member can also have moved into an object that is new or hadn't declared it, and has a path then.
fn successors<'m>(models: [&'m Model; 2], objects: [&'m Struct; 2]) -> Vec<(&'m str, (&'m str, String))> {
    let [gone, new] = [0, 1].map(|index| {
        let members = objects[index].members.iter();
        let only_here = members.filter(|member| !objects[1 - index].declares(&member.name));
        only_here.collect::<Vec<&Member>>()
    });
    let is_same_type = |old: &Member, new: &Member| models[0].resolve(&old.ty) == models[1].resolve(&new.ty);
    let is_alike = |old: &Member, new: &Member| old.required == new.required && is_same_type(old, new);
    let pairs = gone.iter().filter_map(|old| {
        let is_only = |new: &&&Member| gone.iter().filter(|old| is_alike(old, new)).count() == 1;
        let alike: Vec<_> = new.iter().filter(|new| is_alike(old, new)).collect();
        let mut respelled = alike.iter().filter(|new| is_spelled_alike(&old.name, &new.name));
        let respelled = respelled.next().filter(|_| respelled.next().is_none());
        let is_here = |object: &Struct| {
            let inner = object.member(&old.name);
            inner.is_some_and(|inner| is_same(models, [&old.ty, &inner.ty]))
        };
        let path = |outer: &&'m Member| {
            let element = step_into(models[1], &outer.ty, is_here)?;
            let [first, last] = [&outer.name, &old.name].map(|name| vec![Step::Member(name.clone())]);
            let path = [first, element, last].concat();
            let text = text(&path);
            (steps(&text)? == path).then_some((outer.name.as_str(), text))
        };
        // An object that both have, and that declares the member now.
        let grown = objects[1].members.iter().filter(|outer| {
            let before = objects[0].member(&outer.name);
            let before = before.and_then(|before| models[0].struct_of(&before.ty));
            before.is_some_and(|object| !object.declares(&old.name)) && models[1].struct_of(&outer.ty).is_some()
        });
        let mut moved: Vec<_> = new
            .iter()
            .copied()
            .chain(grown)
            .filter_map(|outer| path(&outer))
            .collect();
        // A member that has moved can also have another name.
        let renamed_path = |outer: &&'m Member| {
            let place = place_within(models, &gone, (old, outer))?;
            Some((outer.name.as_str(), self::path(&place)))
        };
        if alike.is_empty() && moved.is_empty() {
            moved = new.iter().filter_map(renamed_path).collect();
        }
        let here = |new: &'m Member| (new.name.as_str(), text(&[Step::Member(new.name.clone())]));
        let successor = match (respelled, &alike[..], moved.len()) {
            (Some(new), ..) => here(new),
            (None, [only], 0) if is_only(only) => here(only),
            (None, [], 1) => moved.remove(0),
            _ => return None,
        };
        Some((old.name.as_str(), successor))
    });
    pairs.collect()
}

/// Returns the place, in a new object, of a value with the type of a member that is gone: the only one if no other with
/// this type is gone, or else the only one whose name is a part of its name: `schemas.input` of `inputSchema`, or else
/// the only one that its object requires if no other is gone.
fn place_within<'m>(
    models: [&'m Model; 2],
    gone: &[&Member],
    (old, outer): (&Member, &'m Member),
) -> Option<Vec<&'m Member>> {
    let places = places_within(models, &old.ty, outer);
    let last = places.first()?.last()?;
    let is_only_gone = gone
        .iter()
        .filter(|other| is_same(models, [&other.ty, &last.ty]))
        .count()
        == 1;
    if let [only] = &places[..]
        && is_only_gone
    {
        return Some(only.clone());
    }
    let name = old.name.to_lowercase();
    let is_named = |place: &&Vec<&Member>| {
        let inner = place.last();
        inner.is_some_and(|inner| name.contains(&inner.name.to_lowercase()))
    };
    let mut named = places.iter().filter(is_named);
    let named = named.next().filter(|_| named.next().is_none()).cloned();
    named.or_else(|| only_place(&places).filter(|_| is_only_gone))
}

/// Returns the step from a value to an object that meets a condition: from a list to the first kind of elements, by its
/// tags, and none if the value itself is such an object. `None` if there is no such object.
fn step_into(model: &Model, ty: &TypeRef, meets: impl Fn(&Struct) -> bool) -> Option<Vec<Step>> {
    let TypeRef::List(element) = model.resolve(ty) else {
        return model.struct_of(ty).is_some_and(meets).then(Vec::new);
    };
    let TypeKind::Union(union) = model.kind_of(element)? else {
        return None;
    };
    let mut elements = union.variants.iter().filter_map(|variant| model.struct_of(&variant.ty));
    let element = elements.find(|object| meets(object))?;
    let tags = element.constants.iter().filter_map(|constant| match &constant.value {
        Scalar::String(text) => Some((constant.name.clone(), text.clone())),
        _ => None,
    });
    let tags: BTreeMap<_, _> = tags.collect();
    (!tags.is_empty()).then(|| vec![Step::Element(tags)])
}

/// Returns each value that an enumeration has lost, if it has one new value instead.
fn renamed_values(models: [&Model; 2]) -> Vec<Renamed> {
    let renamed = models[0].types.iter().filter_map(|(name, ty)| {
        let (TypeKind::Strings(earlier), TypeKind::Strings(later)) = (&ty.kind, models[1].kind(name)?) else {
            return None;
        };
        let only = |values: &[String], others: &[String]| {
            let mut only = values.iter().filter(|value| !others.contains(value));
            only.next().filter(|_| only.next().is_none()).cloned()
        };
        let old = only(&earlier.values, &later.values)?;
        let new = only(&later.values, &earlier.values)?;
        Some(Renamed {
            at: vec![format!("{name}[{old}]")],
            what: format!("`{new}` instead of `{old}`"),
            types: vec![name.clone()],
            otherwise: "don't relate the values",
            new: text(&[Step::Member(new)]),
        })
    });
    renamed.collect()
}

/// Returns each method that is gone, if there is one new method that could be the same.
fn renamed_methods(models: [&Model; 2]) -> Vec<Renamed> {
    let renamed = successors_of_methods(models).into_iter().filter_map(|(name, new)| {
        let [old, new] = [models[0].method(name)?, models[1].method(&new)?];
        Some(Renamed {
            at: vec![old.ty.clone()],
            new: new.ty.clone(),
            what: format!("`{}` instead of `{name}`", new.name),
            types: Vec::new(),
            otherwise: "refuse the method",
        })
    });
    renamed.collect()
}

/// Returns each method that is gone, with the one new method with the same parameters and results. Of several, it is the one
/// whose name ends with the earlier name, or with what follows its first word.
pub(super) fn successors_of_methods(models: [&Model; 2]) -> BTreeMap<&str, String> {
    let [gone, new] = [0, 1].map(|index| {
        let methods = models[index].methods.iter();
        let only_here = methods.filter(|method| {
            let is_same = |other: &Method| {
                other.name == method.name
                    || other.definition == method.definition
                    || method.role.is_some() && other.role == method.role
            };
            !models[1 - index].methods.iter().any(is_same)
        });
        let described = only_here.map(|method| {
            let contents = contents(models[index], method);
            (method.name.as_str(), (method.kind, method.direction, contents))
        });
        described.collect::<BTreeMap<_, _>>()
    });
    let successor = |name: &str, end: &str| {
        let [earlier, later] = [&gone, &new].map(|methods| {
            let ending = methods
                .iter()
                .filter(|(name, _)| letters(name).ends_with(&letters(end)));
            ending.map(|(name, contents)| ((*name).to_owned(), contents)).collect()
        });
        Some(current_name(name, [earlier, later])).filter(|new| new != name)
    };
    let found = gone.keys().filter_map(|name| {
        let after_first = name.split_once(|sign: char| !sign.is_alphanumeric());
        let ends = ["", name].into_iter().chain(after_first.map(|(_, rest)| rest));
        Some((*name, ends.into_iter().find_map(|end| successor(name, end))?))
    });
    found.collect()
}

/// Returns the members of a method's parameters and of its results: their names, and whether they are required.
fn contents<'m>(model: &'m Model, method: &Method) -> Vec<Vec<(&'m str, bool)>> {
    let params = model.params(method).map(|params| &params.ty);
    let objects = params.into_iter().chain(&method.results).map(|ty| model.struct_of(ty));
    let members = |object: &'m Struct| {
        let members = object.members.iter();
        members.map(|member| (member.name.as_str(), member.required)).collect()
    };
    objects.map(|object| object.map(members).unwrap_or_default()).collect()
}
