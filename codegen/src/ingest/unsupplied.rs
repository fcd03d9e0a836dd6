//! Members that one of two revisions requires and the other doesn't, or that have another type there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::renamed::{one_or_all, suggestion};
use crate::adapt::{NOTHING_SUPPLIES, NoteKind, OTHER_TYPE, Plan, Rule, Rules, name_in_place};
use crate::model::{ModelledRevision, TypeKind, TypeRef};
use crate::problem::Problem;

/// Returns a warning for each member that a new revision, or the one before, requires and that no rule supplies, since
/// conversions refuse all values without it then.
pub(super) fn unsupplied([before, after]: [&ModelledRevision; 2], [up, down]: &[Plan; 2]) -> Vec<Problem> {
    let warnings = |direction: &str, [source, target]: [&ModelledRevision; 2], plan: &Plan| {
        let found = refused([source, target], plan);
        let is_consequence = |member: &str| {
            let objects = target.model.objects();
            let mut inner = objects.filter_map(|(_, object)| target.model.struct_of(&object.member(member)?.ty));
            inner.any(|object| {
                object
                    .required()
                    .any(|name| found.contains_key(&(name.as_str(), false)))
            })
        };
        let causes = found.iter().filter(|((member, _), _)| !is_consequence(member));
        let [from, to] = [source, target].map(|side| &side.model.revision);
        let warnings = causes.map(|((member, is_optional), types)| {
            let known = supply_before(target, member);
            let default = |value: &str| format!("{direction}: {{default: {value}}}");
            let places = one_or_all(&Vec::from_iter(types.iter().map(|ty| format!("{ty}.{member}"))));
            let everywhere = json!(format!("*.{member}"));
            let objects = target.model.objects();
            let having = objects.filter(|(_, object)| object.declares(member)).count();
            let (at, action) = match (is_optional, known) {
                // Other types can have the member as the target has it.
                (true, known) => {
                    let implied = known.and_then(|rule| rule.implied).map(|value| value.to_string());
                    (places, default(implied.as_deref().unwrap_or("…")))
                }
                // The place of such a rule is where the member is declared.
                (false, Some(rule)) => {
                    let action = match rule.implied {
                        Some(value) => format!("implied: {value}"),
                        None => format!("supplied: {}", json!(rule.supplied)),
                    };
                    (everywhere, action)
                }
                (false, None) if types.len() > 1 && having == types.len() => (everywhere, default("…")),
                (false, None) => (places, default("…")),
            };
            let types = types.join(", ");
            let (there, values) = match is_optional {
                true => (format!(", where {from} has it as optional"), "values without it"),
                false => (String::new(), "these"),
            };
            let what = format!(
                "{to} requires `{member}` in {types}{there}, and nothing supplies it: conversions from {from} refuse \
                 {values}"
            );
            let condition = format!("if this is true of every peer of {from}");
            suggestion(after, what, &condition, at, &action)
        });
        warnings.collect::<Vec<_>>()
    };
    let mut found = warnings("up", [before, after], up);
    found.extend(warnings("down", [after, before], down));
    found
}

/// Returns a warning for each member whose type in a new revision no conversion knows, since conversions refuse its values.
/// A rule can drop them where the target doesn't require the member, and replace them by one value elsewhere.
pub(super) fn of_another_type([before, after]: [&ModelledRevision; 2], [up, down]: &[Plan; 2]) -> Vec<Problem> {
    // For each member, the directions in which its values can be dropped, and the sources.
    let mut optional = BTreeMap::<&str, Vec<(&str, &str)>>::new();
    let mut found = Found::new();
    for (direction, source, target, plan) in [("up", before, after, up), ("down", after, before, down)] {
        let notes = plan.notes.iter();
        for note in notes.filter(|note| note.kind == NoteKind::Refused && note.what == OTHER_TYPE) {
            let Some((name, member)) = note.at.split_once('.') else {
                continue;
            };
            let ty = TypeRef::Named(name.to_owned());
            // A type can be converted to several others.
            let mut counterparts = plan.conversions.iter().filter(|((from, _), _)| *from == ty);
            let is_refused = |row: &Value| row["members"][member].get("refuse").is_some();
            if !counterparts.all(|(_, conversion)| conversion.row.as_ref().is_some_and(|(_, row)| is_refused(row))) {
                continue;
            }
            let [here, there] = [source, target].map(|side| side.model.struct_of(&ty)?.member(member));
            let from = source.model.revision.as_str();
            let variant = match (here, there) {
                (_, Some(there)) if !there.required => {
                    optional.entry(&note.at).or_default().push((direction, from));
                    continue;
                }
                (Some(here), _) if matches!(source.model.kind_of(&here.ty), Some(TypeKind::Union(_))) => "…".to_owned(),
                (Some(here), _) => name_in_place(source.model.resolve(&here.ty)),
                (None, _) => continue,
            };
            let remedy = Remedy::Replace(direction, variant);
            found.entry((member, vec![from], remedy)).or_default().push(name);
        }
    }
    for (at, refused) in optional {
        let (directions, from) = refused.into_iter().unzip();
        if let Some((name, member)) = at.split_once('.') {
            let key = (member, from, Remedy::Drop(directions));
            found.entry(key).or_default().push(name);
        }
    }
    let warnings = found.into_iter().map(|((member, from, remedy), types)| {
        let place = match &types[..] {
            [only] => format!("`{only}.{member}`"),
            several => format!("`{member}` in {}", several.join(", ")),
        };
        let (to, from) = (&after.model.revision, from.join(" and "));
        let what = format!("{to} has another type of {place}: conversions from {from} refuse its values");
        let at = |end: &str| one_or_all(&Vec::from_iter(types.iter().map(|ty| format!("{ty}.{member}{end}"))));
        match remedy {
            Remedy::Drop(directions) => {
                let drops = directions.iter().map(|direction| format!("{direction}: {{drop: true}}"));
                let drops = Vec::from_iter(drops).join(", ");
                suggestion(after, what, "if peers can do without them", at(""), &drops)
            }
            Remedy::Replace(_, variant) if variant == "…" => {
                let help = "if other values are right for its variants, add rules under `rules` in the revision's adapt.yaml \
                            that replace them";
                Problem::new(after.documents.rules.file(), what).help(format!("{help}: `at: {}`", at("[…]")))
            }
            Remedy::Replace(direction, variant) => {
                let condition = "if one value is right for all of them";
                let action = format!("{direction}: {{replace: …}}");
                suggestion(after, what, condition, at(&format!("[{variant}]")), &action)
            }
        }
    });
    warnings.collect()
}

/// The types that have a member whose values are refused, by the member, the revisions of the values, and the remedy.
type Found<'p> = BTreeMap<(&'p str, Vec<&'p str>, Remedy<'p>), Vec<&'p str>>;

/// What a rule can do with the values of a member that has another type.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Remedy<'p> {
    /// Drop them, in these directions.
    Drop(Vec<&'p str>),
    /// Replace them, in a direction, by the name of the type in the place of the rule; `…` for each variant of a union.
    Replace(&'p str, String),
}

/// Returns the members that the target requires and the source doesn't, each with the types that lack it. The keys also
/// have whether the source declares the member, in this place or in another from which it is moved.
fn refused<'p>([source, target]: [&ModelledRevision; 2], plan: &'p Plan) -> BTreeMap<(&'p str, bool), Vec<&'p str>> {
    let mut found = BTreeMap::<_, Vec<_>>::new();
    let notes = plan.notes.iter();
    let refused = notes.filter(|note| note.kind == NoteKind::Refused && note.what == NOTHING_SUPPLIES);
    for (ty, member) in refused.filter_map(|note| note.at.split_once('.')) {
        let named = TypeRef::Named(ty.to_owned());
        let object = source.model.struct_of(&named);
        let conversions = plan.conversions.iter().filter(|((from, _), _)| *from == named);
        let counterparts = conversions.clone().map(|((_, there), _)| there);
        let counterparts = Vec::from_iter(counterparts);
        let requires = |there: &&TypeRef| {
            let object = target.model.struct_of(there);
            object.is_some_and(|object| object.required().any(|name| name == member))
        };
        // Values with the member can become one variant of a union, and those without it another.
        let is_split = |ty: &TypeKind| {
            let variants = match ty {
                TypeKind::Union(union) => union.variants.iter().map(|variant| target.model.resolve(&variant.ty)),
                _ => return false,
            };
            let variants = Vec::from_iter(variants.filter(|variant| counterparts.contains(variant)));
            variants.iter().any(requires) && !variants.iter().all(requires)
        };
        if target.model.types.values().any(|ty| is_split(&ty.kind)) {
            continue;
        }
        let rows = conversions.filter_map(|(_, conversion)| conversion.row.as_ref());
        let mut moves = rows.flat_map(|(_, row)| row["moves"].as_array().into_iter().flatten());
        let is_moved = moves.any(|paths| paths[1] == json!([member]));
        let is_declared = is_moved || object.is_some_and(|object| object.declares(member));
        found.entry((member, is_declared)).or_default().push(ty);
    }
    found
}

/// Returns the rule of the revision that requires a member about its absence in the revision before.
fn supply_before(revision: &ModelledRevision, member: &str) -> Option<Rule> {
    let rules = Rules::of(revision.documents.rules.clone()).ok()?.rules.into_iter();
    let mut of_member = rules.filter(|rule| rule.at.split_once('.').is_some_and(|(_, name)| name == member));
    of_member.find(|rule| rule.implied.is_some() || rule.supplied.is_some())
}
