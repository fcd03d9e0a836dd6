//! Pairing of the types of two neighbouring revisions, and the plans of the pairs.

mod object;

use rustc_hash::FxHashMap;

use super::checks::ENVELOPE;
use super::choose::{has_tag, of_method};
use super::step::{
    Basic, Change, How, MethodsPlan, Narrower, ObjectPlan, Pair, PairId, ResultsPlan, Step, StringsPlan, UnionPlan,
    VariantPlan, basic,
};
use crate::tables::rows::{ObjectRow, Rows, VariantRow};
use crate::tables::types::{Kind, ObjectType, ResultDiscriminator, TypeId, TypeRef};
use crate::tables::{Role, Table};

impl Step {
    /// Creates the conversions from one revision to a neighbouring one, with the rows of that direction. `named_by` are
    /// the members that name the revision of a request in each of the two, if both have one.
    pub(crate) fn new(
        (from, to): (&'static Table, &'static Table),
        rows: Option<&Rows>,
        named_by: Option<(&'static str, &'static str)>,
    ) -> Self {
        let none = Rows::default();
        let rows = rows.unwrap_or(&none);
        let step = Self {
            from,
            to,
            pairs: Vec::new(),
            index: FxHashMap::default(),
            definitions: rows.definitions.clone(),
            methods: rows.methods.clone(),
            client_results: None,
            server_results: None,
        };
        let mut linker = Linker {
            step,
            rows,
            named_by,
            waiting: Vec::new(),
        };
        linker.link();
        let mut step = linker.step;
        step.find_kept();
        step
    }
}

/// Creates the pairs of a step, starting with the types of the same name.
struct Linker<'r> {
    step: Step,
    rows: &'r Rows,
    named_by: Option<(&'static str, &'static str)>,
    waiting: Vec<PairId>,
}

impl Linker<'_> {
    fn link(&mut self) {
        let (from, to) = (self.step.from, self.step.to);
        let by_name: FxHashMap<&str, TypeId> = to.types.iter().enumerate().map(|(id, ty)| (ty.name, id)).collect();
        for (id, ty) in from.types.iter().enumerate() {
            if let Some(other) = by_name.get(ty.name) {
                let (source, target) = (TypeRef::Named(id), TypeRef::Named(*other));
                if self.are_values(&source, &target) {
                    self.change(&source, &target);
                }
            }
        }
        let rows = self.rows;
        let pairs = rows
            .objects
            .names()
            .chain(rows.unions.names())
            .chain(rows.strings.names());
        for pair in pairs.filter_map(|pair| pair.split_once('>')) {
            if let (Some(source), Some(target)) = (from.notated(pair.0), to.notated(pair.1))
                && self.are_values(&source, &target)
            {
                self.change(&source, &target);
            }
        }
        for name in from.names() {
            let becomes = self.step.definition(name);
            if let (Some(source), Some(target)) = (from.named(name), becomes.and_then(|name| to.named(name))) {
                self.change(source, target);
            }
        }
        self.step.client_results = self.results(Role::Client);
        self.step.server_results = self.results(Role::Server);
        while let Some(pair) = self.waiting.pop() {
            let Pair { source, target, .. } = &self.step.pairs[pair];
            let (source, target) = (source.clone(), target.clone());
            self.step.pairs[pair].how = self.how(&source, &target);
        }
    }

    /// Whether neither type is a union of the results of methods. Those have separate plans, because the type of a
    /// result depends on the request.
    fn are_values(&self, source: &TypeRef, target: &TypeRef) -> bool {
        let kinds = [self.step.from.kind(source), self.step.to.kind(target)];
        !kinds.iter().any(|kind| matches!(kind, Some(Kind::Results(_))))
    }

    fn change(&mut self, source: &TypeRef, target: &TypeRef) -> Change {
        let (from, to) = (self.step.from, self.step.to);
        let definition = target;
        let (source, target) = (from.resolve(source).clone(), to.resolve(target).clone());
        if let (TypeRef::Named(_), TypeRef::Named(id), true) = (&source, definition, target.is_open()) {
            return Change::Open(*id);
        }
        match basic(from, &source, &target) {
            Basic::Is(change) => change,
            Basic::List(source, target) => Change::List(Box::new(self.change(source, target))),
            Basic::Map(source, target) => Change::Map(Box::new(self.change(source, target))),
            Basic::Nullable(source, target) => Change::Nullable(Box::new(self.change(source, target))),
            Basic::NotNull(source, target) => Change::NotNull(Box::new(self.change(source, target))),
            Basic::Wrapped(source, target) => self.change(source, target),
            Basic::Pair => Change::Pair(self.pair(source, target)),
        }
    }

    fn pair(&mut self, source: TypeRef, target: TypeRef) -> PairId {
        let next = self.step.pairs.len();
        let pair = *self.step.index.entry((source.clone(), target.clone())).or_insert(next);
        if pair == next {
            // A pair can contain itself, so it is added before its plan is made.
            let how = How::Object(ObjectPlan::default());
            let narrower = self.narrower(&source, &target);
            self.step.pairs.push(Pair {
                source,
                target,
                how,
                narrower,
                keeps: true,
            });
            self.waiting.push(pair);
        }
        pair
    }

    fn narrower(&self, source: &TypeRef, target: &TypeRef) -> Option<Narrower> {
        let table = self.step.to;
        let TypeRef::Named(id) = target else { return None };
        let narrower = &self.rows.narrower;
        // Most revisions have no such rows, so the name isn't needed then.
        let has_row = !narrower.is_empty() && narrower.get(&self.name(source, target)).is_some();
        has_row.then(|| Narrower {
            pointer: table.types[*id].pointer,
            is_message: is_message(table, target),
        })
    }

    fn how(&mut self, source: &TypeRef, target: &TypeRef) -> How {
        let (from, to) = (self.step.from, self.step.to);
        let is_union = |table: &Table, ty| matches!(table.kind(ty), Some(Kind::Methods(_)));
        let holds_unknown = is_union(to, target);
        if (is_union(from, source) || holds_unknown)
            && let (Some(methods), Some(others)) = (messages(from, source), messages(to, target))
        {
            return How::Methods(self.methods(&methods, &others, holds_unknown));
        }
        match (from.kind(source), to.kind(target)) {
            (Some(Kind::Object(object)), Some(Kind::Object(other))) => {
                let rows = self.rows;
                let none = ObjectRow::default();
                let row = rows.objects.get(&self.name(source, target)).unwrap_or(&none);
                let pointer = to.schema_pointer(target).unwrap_or_default();
                let mut plan = self.object(object, (other, pointer), row);
                plan.closed = to.is_closed(target).then(|| undeclared_that_stay(to, target, other));
                How::Object(plan)
            }
            (own @ (None | Some(Kind::Strings(_))), Some(Kind::Strings(others))) => {
                let values = match own {
                    Some(Kind::Strings(values)) => values.as_slice(),
                    _ => &[],
                };
                let closed = to.is_closed(target);
                let rows = self.rows;
                let changed = rows.strings.get(&self.name(source, target));
                let is_changed = |value: &str| changed.is_some_and(|changed| changed.get(value).is_some());
                let missing = values.iter();
                let missing = missing.filter(|value| closed && !others.contains(value) && !is_changed(value));
                let is_stricter = closed && !from.is_closed(source);
                How::Strings(StringsPlan {
                    refused: missing.copied().collect(),
                    only: is_stricter.then(|| others.clone()),
                    changed: changed.cloned().unwrap_or_default(),
                })
            }
            _ => {
                let rows = self.rows;
                let row = rows.unions.get(&self.name(source, target)).map(Vec::as_slice);
                How::Union(self.union(source, target, row))
            }
        }
    }

    fn name(&self, source: &TypeRef, target: &TypeRef) -> String {
        match (self.step.from.notation(source), self.step.to.notation(target)) {
            (source, target) if source == target => source,
            (source, target) => format!("{source}>{target}"),
        }
    }

    fn methods(
        &mut self,
        methods: &[(&'static str, TypeId)],
        others: &[(&'static str, TypeId)],
        holds_unknown: bool,
    ) -> MethodsPlan {
        let planned = methods.iter().map(|(method, ty)| {
            let there = self.step.method(method);
            let other = of_method(others, there).copied();
            let change = other.map(|other| self.change(&TypeRef::Named(*ty), &TypeRef::Named(other)));
            (*method, change)
        });
        let planned = planned.collect();
        let only_there = others.iter().map(|(method, _)| *method);
        let only_there = only_there.filter(|method| methods.iter().all(|(own, _)| own != method));
        MethodsPlan {
            methods: planned,
            only_there: only_there.collect(),
            holds_unknown,
        }
    }

    /// Plans what each result of a role becomes: the result in the row of the two unions, or else the one with the same
    /// name, or the union of several results. In unions that are also types of values, it is the one at the same
    /// position.
    fn results(&mut self, role: Role) -> Option<ResultsPlan> {
        let (from, to, rows) = (self.step.from, self.step.to, self.rows);
        let source = from.named(from.sent_by(role).results?)?;
        let target = to.named(to.sent_by(role).results?)?;
        let name = self.name(source, target);
        let (sources, targets) = (variants(from, source), variants(to, target));
        let (by_position, by_name) = (rows.unions.get(&name), rows.results.get(&name));
        let are_values = self.are_values(source, target);
        let results = sources.into_iter().enumerate().map(|(at, ty)| {
            let united;
            let other = match (by_position.map(|row| row.get(at)), by_name) {
                (Some(Some(VariantRow::Becomes(at))), _) => targets.get(*at),
                (Some(_), _) => None,
                (None, None) if are_values => targets.get(at),
                (None, by_name) => {
                    let own = from.notation(&ty);
                    let renamed = by_name.and_then(|names| names.get(&own));
                    let becomes = renamed.map_or(Some(&*own), |becomes| becomes.as_deref());
                    let result = targets.iter().find(|other| becomes == Some(&*to.notation(other)));
                    // A union of results of one method isn't a result itself.
                    let is_united = |ty: &TypeRef| match to.kind(ty) {
                        Some(Kind::Union(union)) => union.variants.iter().all(|one| targets.contains(&one.ty)),
                        _ => false,
                    };
                    united = becomes.and_then(|name| to.notated(name)).filter(is_united);
                    result.or(united.as_ref())
                }
            };
            let becomes = other.map(|other| (other.clone(), self.change(&ty, other)));
            (ty, becomes)
        });
        Some(ResultsPlan {
            results: results.collect(),
            holds_unknown: holds_unknown_result(to, target),
        })
    }

    fn union(&mut self, source: &TypeRef, target: &TypeRef, row: Option<&[VariantRow]>) -> UnionPlan {
        let (from, to) = (self.step.from, self.step.to);
        let sources = variants(from, source);
        let targets = variants(to, target);
        let variants = sources.iter().enumerate().map(|(at, ty)| {
            let row = match row {
                Some(row) => row.get(at).cloned().unwrap_or(VariantRow::None("")),
                None => VariantRow::Becomes(at),
            };
            self.variant(row, ty, &targets, (source, target))
        });
        let variants = variants.collect();
        let is_tagged = |kind: Option<&Kind>| match kind {
            Some(Kind::Union(union)) => Some(union.objects.as_ref().is_some_and(has_tag)),
            _ => None,
        };
        let holds_unknown = is_tagged(to.kind(target)) == Some(true);
        UnionPlan {
            source: source.clone(),
            target: target.clone(),
            variants,
            holds_unknown,
            gains_tag: holds_unknown && is_tagged(from.kind(source)) == Some(false),
        }
    }

    /// Plans what a variant becomes, which has the type `ty`. `targets` are the variants of the target.
    fn variant(
        &mut self,
        row: VariantRow,
        ty: &TypeRef,
        targets: &[TypeRef],
        unions: (&TypeRef, &TypeRef),
    ) -> VariantPlan {
        match row {
            VariantRow::Becomes(at) => match targets.get(at) {
                // Two types that aren't unions are their own only variants, which would recur endlessly.
                Some(other) if (ty, other) != unions => VariantPlan::Becomes(at, self.change(ty, other)),
                _ => VariantPlan::None(""),
            },
            VariantRow::OneOf(rows) => {
                let plans = rows.into_iter().map(|row| self.variant(row, ty, targets, unions));
                VariantPlan::OneOf(plans.collect())
            }
            VariantRow::Replace { template, rule } => VariantPlan::Replace { template, rule },
            VariantRow::Refuse(refusal) => VariantPlan::Refuse(refusal),
            VariantRow::None(name) => VariantPlan::None(name),
        }
    }
}

/// Whether a union of results accepts results with an unknown tag.
fn holds_unknown_result(table: &Table, ty: &TypeRef) -> bool {
    let Some(Kind::Results(union)) = table.kind(ty) else {
        return false;
    };
    let mut methods = union.methods.iter();
    methods.any(|(_, results)| matches!(results.told_by, ResultDiscriminator::Tag(..)))
}

/// Returns the methods of a union of messages, or that of a single message, each with the type of its message.
fn messages(table: &Table, ty: &TypeRef) -> Option<Vec<(&'static str, TypeId)>> {
    let TypeRef::Named(id) = ty else { return None };
    match table.kind(ty)? {
        Kind::Methods(methods) => Some(methods.clone()),
        Kind::Object(object) => {
            let method = object.member("method")?.constant()?;
            Some(vec![(method.strip_prefix('"')?.strip_suffix('"')?, *id)])
        }
        _ => None,
    }
}

/// Returns the types of a union. A type that isn't a union is its own only variant.
fn variants(table: &Table, ty: &TypeRef) -> Vec<TypeRef> {
    match table.kind(ty) {
        Some(Kind::Union(union)) => union.variants.iter().map(|variant| variant.ty.clone()).collect(),
        Some(Kind::Results(union)) => union.variants.clone(),
        _ => vec![ty.clone()],
    }
}

/// Whether a type is a request or notification.
fn is_message(table: &Table, ty: &TypeRef) -> bool {
    table.types.iter().any(|union| match (&union.kind, ty) {
        (Kind::Methods(all), TypeRef::Named(id)) => all.iter().any(|(_, message)| message == id),
        _ => false,
    })
}

/// Returns the undeclared members that a closed object can have.
fn undeclared_that_stay(table: &Table, ty: &TypeRef, object: &ObjectType) -> Vec<&'static str> {
    let constants = object.members.iter().filter(|member| member.constant().is_some());
    let constants = constants.map(|member| member.name);
    let envelope = ENVELOPE.into_iter().filter(|_| is_message(table, ty));
    constants.chain(envelope).collect()
}
