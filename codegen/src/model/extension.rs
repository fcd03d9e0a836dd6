//! The model of an extension: its own types, and those that it imports from the revision that it extends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::build::build_model;
use super::check_facts::wrong_facts;
use super::input::{BuildInput, LaterNames};
use super::lock::Lock;
use super::modules::reachable;
use super::names::Names;
use super::revisions::{AddedResult, ModelledRevision, no_definition, wrong_entry, wrong_errors};
use super::roles::RESULT_KIND;
use super::shared::Shared;
use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};
use crate::load::{Document, RevisionDocuments, SharedDocuments, is_within};
use crate::memo::{Memo, Same};
use crate::normalise::{NormalisedRevision, NormalisedSchema};
use crate::overlay::Overlay;
use crate::problem::{Problem, Problems};

/// A cache of extensions with their models, by their input: the files, the spelling of names, and the extended
/// revision.
pub(crate) type BuiltExtensions = Memo<ExtensionInput, Result<Arc<ModelledRevision>, Problems>>;

type ExtensionInput = (RevisionDocuments, SharedDocuments, Names, Same<ModelledRevision>);

/// Builds the models of extensions.
pub(crate) fn build_extensions(
    (names, shared): (&Names, &Shared),
    revisions: &[Arc<ModelledRevision>],
    extensions: Vec<NormalisedRevision>,
    known: &BuiltExtensions,
) -> Result<Vec<Arc<ModelledRevision>>, Problems> {
    let (mut modelled, mut problems) = (Vec::<Arc<ModelledRevision>>::new(), Vec::new());
    for extension in extensions {
        let documents = extension.documents.clone();
        let extended = documents.extension.as_ref().map(|extension| extension.of.clone());
        let mut revisions = revisions.iter();
        let Some(core) = revisions.find(|revision| Some(&revision.entry().revision) == extended.as_ref()) else {
            continue;
        };
        let input = (documents, shared.documents.clone(), names.clone(), Same::of(core));
        let build = |_: &ExtensionInput| build_extension(extension, core, (names, shared)).map(Arc::new);
        match known.get(input, build) {
            Ok(extension) => {
                problems.extend(modelled.iter().flat_map(|other| shared_names(other, &extension)));
                modelled.push(extension);
            }
            Err(found) => problems.extend(found),
        }
    }
    Problems::check(problems)?;
    Ok(modelled)
}

/// Builds the model of an extension.
fn build_extension(
    extension: NormalisedRevision,
    core: &ModelledRevision,
    (names, shared): (&Names, &Shared),
) -> Result<ModelledRevision, Problems> {
    let NormalisedSchema {
        document,
        overlay,
        imported,
        ..
    } = &extension.schema;
    let published = Lock::of(&extension.documents.names)?;
    let no_names = BTreeMap::new();
    let input = BuildInput {
        revision: extension.documents.entry.revision.as_str(),
        schema: &extension.schema,
        names,
        later: &LaterNames::new(&no_names),
        lock: &Lock::of(&extension.documents.names)?.with(&core.model, imported),
        modules: &shared.modules,
        inherited_results: &BTreeMap::new(),
    };
    let mut model = build_model(&input)?;
    mark_imported(&mut model, &core.model, imported);
    let mut problems = published.broken(&model, &extension.documents.names);
    problems.extend(wrong_errors(overlay, &model));
    problems.extend(wrong_facts(&overlay.facts, overlay, &model));
    problems.extend(methods_of_core(&model, &core.model, document));
    let definitions = &model.definitions;
    if definitions.is_empty() {
        let what = format!(
            "every definition is one of revision {}, so nothing is left to generate",
            core.model.revision
        );
        let problem = document.problem("#", what);
        problems.push(problem.help("give the schema of the extension, and not that of the protocol"));
    }
    let added = added_results(overlay, &model, &core.model, &mut problems);
    let unknown = overlay.settings.iter().filter(|name| !definitions.contains_key(*name));
    problems.extend(unknown.map(|name| overlay.problem("#/settings", no_definition(name))));
    problems.extend(wrong_settings(overlay, &model));
    problems.extend(wrong_meta(overlay, &model, &core.model));
    Problems::check(problems)?;
    let facts = overlay.facts.clone();
    Ok(ModelledRevision {
        results: added,
        ..ModelledRevision::of(extension, model, facts)
    })
}

/// Returns a problem for each method and each kind of result that an extension shares with another one.
fn shared_names(other: &ModelledRevision, extension: &ModelledRevision) -> Vec<Problem> {
    let id = other.documents.extension.as_ref().map_or("", |other| &other.id);
    let methods = extension.model.methods.iter().map(|method| &method.name);
    let methods = methods.filter(|name| other.model.method(name).is_some());
    let methods = methods.map(|name| format!("`{name}` is a method of {id} too"));
    let is_same = |one: &AddedResult, two: &AddedResult| one.method == two.method && one.kind == two.kind;
    let results = extension.results.iter();
    let results = results.filter(|added| other.results.iter().any(|theirs| is_same(added, theirs)));
    let results = results.map(|added| match &added.kind {
        Some(kind) => format!("{id} answers `{}` by a result of the kind `{kind}` too", added.method),
        None => format!("{id} answers `{}` by a result without a kind too", added.method),
    });
    let problem = |what: String| {
        let overlay = &extension.overlay;
        overlay
            .problem("#", what)
            .help("a peer couldn't tell the two apart: rename one")
    };
    methods.chain(results).map(problem).collect()
}

/// Returns the results that the overlay adds to requests of the revision.
fn added_results(overlay: &Overlay, model: &Model, core: &Model, problems: &mut Vec<Problem>) -> Vec<AddedResult> {
    let mut added = Vec::new();
    for (index, entry) in overlay.results.iter().enumerate() {
        let mut wrong = |what: String| problems.push(wrong_entry(overlay, &format!("#/results/{index}"), what));
        let of_core = entry.methods.iter().filter(|method| !model.has_request(method));
        let of_core: Vec<&String> = of_core.collect();
        for method in of_core.iter().filter(|method| !core.has_request(method)) {
            wrong(format!(
                "neither the extension nor the revision has a request `{method}`"
            ));
        }
        for definition in entry.definitions() {
            let is_own = model.definitions.contains_key(definition);
            if !is_own && !core.definitions.contains_key(definition) {
                wrong(no_definition(definition));
            } else if !is_own && !of_core.is_empty() {
                wrong(format!(
                    "`{definition}` belongs to the revision, whose schema defines the results of its requests"
                ));
            }
            added.extend(of_core.iter().map(|method| AddedResult {
                method: String::clone(method),
                definition: definition.clone(),
                kind: kind_of(model, core, definition),
            }));
        }
    }
    added
}

/// Returns the value of the member by which the revision distinguishes results.
fn kind_of(model: &Model, core: &Model, definition: &str) -> Option<String> {
    let member = core.lifecycle.names.get(RESULT_KIND)?;
    let object = model.struct_of(&model.definitions.get(definition)?.ty)?;
    object.constant_text(member).map(str::to_owned)
}

/// Returns a problem if the definition of the settings is that of other values than objects.
fn wrong_settings(overlay: &Overlay, model: &Model) -> Option<Problem> {
    let name = overlay.settings.as_ref()?;
    let ty = model.resolve(&model.definitions.get(name)?.ty);
    let is_scalar_or_list = match ty {
        TypeRef::Named(name) => model.is_strings(name),
        TypeRef::RawObject | TypeRef::Map(_) | TypeRef::Any | TypeRef::Nullable(_) => false,
        _ => true,
    };
    is_scalar_or_list.then(|| {
        let problem = overlay.problem("#/settings", format!("`{name}` isn't an object"));
        problem.help("peers declare an extension with an object: name its definition")
    })
}

/// Checks that the overlay's entries for `_meta` refer to definitions of the extension, and to types of the revision
/// with `_meta`.
fn wrong_meta(overlay: &Overlay, model: &Model, core: &Model) -> Vec<Problem> {
    let has_meta = |name: &&String| {
        let definition = core.definitions.get(*name);
        let object = definition.and_then(|definition| core.struct_of(&definition.ty));
        object.is_some_and(|object| object.declares("_meta"))
    };
    let mut problems = Vec::new();
    for (index, entry) in overlay.meta.iter().enumerate() {
        let mut wrong = |what: String| problems.push(wrong_entry(overlay, &format!("#/meta/{index}"), what));
        for name in entry.of.iter().filter(|name| !has_meta(name)) {
            wrong(format!("the revision has no `{name}` with `_meta`"));
        }
        if !model.definitions.contains_key(&entry.definition) {
            wrong(no_definition(&entry.definition));
        }
    }
    problems
}

/// Returns a problem for each method of an extension that the revision also has.
fn methods_of_core(model: &Model, core: &Model, schema: &Document) -> Vec<Problem> {
    let taken = model.methods.iter();
    let taken = taken.filter(|method| core.method(&method.name).is_some());
    let problems = taken.map(|method| {
        let what = format!("`{}` is a method of revision {} itself", method.name, core.revision);
        let problem = schema.problem(model.pointer_of(method), what);
        problem.help("an extension has methods of its own; to add a result to one of the revision, use `results` in overlay.yaml")
    });
    problems.collect()
}

/// Marks the types of the revision as imported, and removes those that the extension doesn't use.
fn mark_imported(model: &mut Model, core: &Model, imported: &BTreeSet<String>) {
    let is_imported = |at: &str| imported.iter().any(|definition| is_within(at, definition));
    let of_core = model.places.iter();
    let of_core = of_core.filter(|(at, name)| is_imported(at) && core.types.contains_key(*name));
    let of_core: BTreeSet<String> = of_core.map(|(_, name)| name.clone()).collect();
    // A nested definition only becomes a type if it is referred to.
    let is_outermost = |at: &str| at.matches('/').count() == 2;
    model
        .definitions
        .retain(|_, definition| is_outermost(&definition.pointer) && !imported.contains(&definition.pointer));
    let defined = model.definitions.values();
    let defined = defined.filter_map(|definition| definition.ty.named().map(str::to_owned));
    let unions = model.types.iter();
    let unions = unions.filter(|(_, ty)| matches!(ty.kind, TypeKind::Methods(_) | TypeKind::Results(_)));
    let first: Vec<String> = defined.chain(unions.map(|(name, _)| name.clone())).collect();
    let own = reachable(model, first.clone(), |name| of_core.contains(name));
    let all = reachable(model, first, |_| false);
    model.types.retain(|name, _| all.contains(name));
    model.places.retain(|_, name| own.contains(name));
    for (name, ty) in &mut model.types {
        ty.imported = !own.contains(name);
    }
}
