//! The table of a revision: its types, and the conversions between it and the previous revision.
//!
//! A table is the text of one JSON object, made by `mcp-codegen`:
//!
//! - `types`: each type by its name. An object has its members in `required`, `optional`, `constant` (required, with
//!   one value) and `implied` (optional, with one value). Others have `strings`, `union` with `objects` (how to
//!   distinguish objects), `alias`, `methods` or `results`. `closed` types allow nothing that they don't declare, and
//!   `at` is the JSON Pointer of a type that isn't a definition. `definitions` is the prefix of the pointers of
//!   definitions.
//! - `facts`, `lifecycle`, `errors`, `errors_up` and `errors_down` (the rules about errors from the previous revision,
//!   and to it) are the part that sessions need, with the names of the fields of [`Facts`](crate::Facts),
//!   [`Lifecycle`](crate::Lifecycle) and the others.
//! - `names`: the definitions whose type doesn't have the same name, and `null` for types that aren't definitions.
//! - `methods`: each method, in the order of the type crates, with the capabilities that some of its parameters need
//!   and the mistakes in its results that are tolerated. `client` and `server`: the unions of the messages and results
//!   that each role sends.
//! - `before`, `up` and `down`: the previous revision, and what the conversions from it, and back to it, do beyond what
//!   the types imply. Members with the same name are the same member. A member that only the source declares is dropped
//!   or carried, and one that only the target declares is taken from the undeclared members. Rows define exceptions.
//!   Values of the pairs of types in `narrower` are validated, because the schema of the target is stricter than its
//!   types and the schema of the source.

mod json;
mod known;
pub(crate) mod named;
mod parse;
mod parse_known;
mod parse_rows;
pub(crate) mod rows;
pub(crate) mod types;

use std::fmt;

use mcp_wire::{Decoded, JsonType, Reader, Schema};

use named::Named;
use rows::{PathStep, Rows};
use types::{Kind, Member, MemberValue, ObjectType, RoleTypes, Type, TypeId, TypeRef};

pub(crate) use self::known::Known;
pub use self::known::{ErrorRule, Need, Tolerance};
pub(crate) use self::parse_known::known;

/// A role in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The table of a revision.
///
/// The texts of a table live as long as the program. Those of a table that is read at run time are leaked.
pub struct Table {
    pub(crate) revision: &'static str,
    pub(crate) schema: &'static Schema,
    /// The previous revision. The conversions of the table are from and to it.
    pub(crate) before: Option<&'static str>,
    /// The prefix of the pointers of definitions.
    definitions: &'static str,
    pub(crate) types: Vec<Type>,
    /// The types of the definitions. A name without a type isn't a definition.
    names: Named<Option<TypeRef>>,
    client: RoleTypes,
    server: RoleTypes,
    pub(crate) up: Option<Rows>,
    pub(crate) down: Option<Rows>,
}

impl Table {
    /// Reads a table. The schema is that of the revision.
    ///
    /// # Errors
    /// The text isn't a table.
    pub fn parse(text: &'static str, schema: &'static Schema) -> Decoded<Self> {
        let mut table = parse::parse(text, schema)?;
        table.find_json_types();
        table.order_members();
        match table.find_circle() {
            Some(name) => {
                let expected = format!("other variants of `{name}` than itself");
                Err(Reader::new(text).wrong_type(expected, JsonType::Object))
            }
            None => Ok(table),
        }
    }

    /// Sorts the members of each object in the order in which they are usually written: constants and required members
    /// first, simple values before containers, `_meta` last. This is nearly the order of the type crates, and makes
    /// finding members faster.
    fn order_members(&mut self) {
        for id in 0..self.types.len() {
            let Kind::Object(object) = &mut self.types[id].kind else {
                continue;
            };
            let members = std::mem::take(&mut object.members);
            // Insertion sort, because there are few members, and the standard library's sort adds much code for each
            // type.
            let mut ordered: Vec<((u8, bool, bool), Member)> = Vec::with_capacity(members.len());
            for member in members {
                let rank = self.rank(&member);
                let at = ordered.partition_point(|(other, _)| *other <= rank);
                ordered.insert(at, (rank, member));
            }
            if let Kind::Object(object) = &mut self.types[id].kind {
                object.members = ordered.into_iter().map(|(_, member)| member).collect();
            }
        }
    }

    fn rank(&self, member: &Member) -> (u8, bool, bool) {
        match member.ty() {
            None => (0, !member.required, false),
            Some(ty) => {
                let section = if member.required { 1 } else { 2 };
                (section, member.name.starts_with('_'), self.has_parts(ty))
            }
        }
    }

    fn has_parts(&self, ty: &TypeRef) -> bool {
        match self.resolve(ty) {
            TypeRef::Named(id) => !matches!(self.types[*id].kind, Kind::Strings(_)),
            TypeRef::Nullable(inner) => self.has_parts(inner),
            TypeRef::Any | TypeRef::Object | TypeRef::List(_) | TypeRef::Map(_) => true,
            _ => false,
        }
    }

    /// Returns a type that is one of its own variants, directly or through other types.
    fn find_circle(&self) -> Option<&'static str> {
        let mut waiting = vec![true; self.types.len()];
        loop {
            let is_ready = |id: &TypeId| waiting[*id] && !self.types[*id].variants().any(|inner| waiting[inner]);
            let ready: Vec<TypeId> = (0..self.types.len()).filter(is_ready).collect();
            for id in &ready {
                waiting[*id] = false;
            }
            if ready.is_empty() {
                let left = waiting.iter().position(|waits| *waits)?;
                return Some(self.types[left].name);
            }
        }
    }

    /// Returns the name of the revision.
    #[must_use]
    pub fn revision(&self) -> &'static str {
        self.revision
    }

    /// Returns the type of a definition.
    pub(crate) fn named(&self, name: &str) -> Option<&TypeRef> {
        self.names.get(name)?.as_ref()
    }

    /// Returns the JSON Pointer of a definition.
    pub(crate) fn pointer_of(&self, name: &str) -> Option<String> {
        self.named(name)?;
        Some(format!("{}{name}", self.definitions))
    }

    /// Returns the type with a notation.
    pub(crate) fn notated(&self, notation: &str) -> Option<TypeRef> {
        TypeRef::parse(notation, &|name| self.types.iter().position(|ty| ty.name == name))
    }

    /// Returns the name and the type of a definition. `None` for a union of results, whose type depends on the request.
    pub(crate) fn definition(&self, name: &str) -> Option<(&'static str, &TypeRef)> {
        let is_one = |ty: &TypeRef| !matches!(self.kind(ty), Some(Kind::Results(_)));
        self.any_definition(name).filter(|(_, ty)| is_one(ty))
    }

    /// Returns the name and the type of a definition, which can be a union of results.
    pub(crate) fn any_definition(&self, name: &str) -> Option<(&'static str, &TypeRef)> {
        let (name, ty) = self.names.entry(name)?;
        Some((name, ty.as_ref()?))
    }

    /// Returns the name of the definition whose schema is at a pointer.
    pub(crate) fn name_at(&self, pointer: &str) -> Option<&'static str> {
        let id = self.types.iter().position(|ty| ty.pointer == pointer)?;
        let is_it = |entry: &&(&'static str, Option<TypeRef>)| entry.1 == Some(TypeRef::Named(id));
        let own = self.names.entry(self.types[id].name).filter(is_it);
        own.or_else(|| self.names.iter().find(is_it)).map(|(name, _)| *name)
    }

    /// Returns the names of the unions of the messages and results that a role sends.
    pub(crate) fn sent_by(&self, side: Role) -> &RoleTypes {
        match side {
            Role::Client => &self.client,
            Role::Server => &self.server,
        }
    }

    /// Returns the names of the definitions, without unions of results, whose type depends on the request.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all_names().filter(|name| self.definition(name).is_some())
    }

    /// Returns the names of all definitions.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.names.iter().filter(|(_, ty)| ty.is_some());
        names.map(|(name, _)| *name)
    }

    pub(crate) fn resolve<'t>(&'t self, mut ty: &'t TypeRef) -> &'t TypeRef {
        // Each alias is followed at most once, so that a cycle of them ends.
        for _ in 0..self.types.len() {
            match ty {
                TypeRef::Named(id) => match &self.types[*id].kind {
                    Kind::Alias(target) => ty = target,
                    _ => break,
                },
                _ => break,
            }
        }
        ty
    }

    /// Returns the kind of a named type.
    pub(crate) fn kind(&self, ty: &TypeRef) -> Option<&Kind> {
        match self.resolve(ty) {
            TypeRef::Named(id) => Some(&self.types[*id].kind),
            _ => None,
        }
    }

    /// Returns the pointer of the schema of a named type.
    pub(crate) fn schema_pointer(&self, ty: &TypeRef) -> Option<&'static str> {
        match self.resolve(ty) {
            TypeRef::Named(id) => Some(self.types[*id].pointer),
            _ => None,
        }
    }

    /// Whether only the declared members or values of a named type are valid.
    pub(crate) fn is_closed(&self, ty: &TypeRef) -> bool {
        matches!(self.resolve(ty), TypeRef::Named(id) if self.types[*id].closed)
    }

    /// Returns the object type with its members.
    pub(crate) fn object(&self, ty: &TypeRef) -> Option<&ObjectType> {
        match self.kind(ty) {
            Some(Kind::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Returns the type of the member at a path in an object.
    pub(crate) fn at_path<'t>(&'t self, object: &'t ObjectType, path: &[PathStep]) -> Option<&'t TypeRef> {
        let [PathStep::Member(name), rest @ ..] = path else {
            return None;
        };
        let ty = object.member(name)?.ty()?;
        match rest {
            [] => Some(ty),
            [PathStep::Element(texts), rest @ ..] => self.at_path(self.element_with(ty, texts)?, rest),
            rest => self.at_path(self.object(ty)?, rest),
        }
    }

    /// Returns the object type of the elements of a list that have these texts: of several possible ones, the one that
    /// requires most of them.
    fn element_with<'t>(&'t self, list: &'t TypeRef, texts: &[(&str, &str)]) -> Option<&'t ObjectType> {
        let TypeRef::List(element) = self.resolve(list) else {
            return None;
        };
        let types = match self.kind(element) {
            Some(Kind::Union(union)) => union.variants.iter().map(|variant| &variant.ty).collect(),
            _ => vec![&**element],
        };
        let has = |object: &ObjectType| {
            let mut constants = 0;
            let mut texts = texts.iter();
            let all = texts.all(|(name, text)| match object.member(name).map(|member| &member.value) {
                Some(MemberValue::Constant(json)) => {
                    constants += 1;
                    Reader::new(json).string().is_ok_and(|constant| constant == *text)
                }
                other => other.is_some(),
            });
            all.then_some(constants)
        };
        let objects = types.into_iter().filter_map(|ty| self.object(ty));
        let possible = objects.filter_map(|object| Some((has(object)?, object)));
        possible
            .max_by_key(|(constants, _)| *constants)
            .map(|(_, object)| object)
    }

    /// Returns the JSON type of all values of a type. `None` if there are several.
    pub(crate) fn json_type(&self, ty: &TypeRef) -> Option<JsonType> {
        self.json_type_within(ty, self.types.len())
    }

    fn json_type_within(&self, ty: &TypeRef, depth: usize) -> Option<JsonType> {
        let depth = depth.checked_sub(1)?;
        Some(match self.resolve(ty) {
            TypeRef::String => JsonType::String,
            TypeRef::Boolean => JsonType::Boolean,
            TypeRef::Integer | TypeRef::Number => JsonType::Number,
            TypeRef::Null => JsonType::Null,
            TypeRef::Object | TypeRef::Map(_) => JsonType::Object,
            TypeRef::List(_) => JsonType::Array,
            TypeRef::Id | TypeRef::Any | TypeRef::Nullable(_) => return None,
            TypeRef::Named(id) => match &self.types[*id].kind {
                Kind::Strings(_) => JsonType::String,
                Kind::Union(union) => {
                    let mut types = union
                        .variants
                        .iter()
                        .map(|variant| self.json_type_within(&variant.ty, depth));
                    let first = types.next()??;
                    return types.all(|other| other == Some(first)).then_some(first);
                }
                Kind::Object(_) | Kind::Methods(_) | Kind::Alias(_) => JsonType::Object,
                Kind::Results(_) => return None,
            },
        })
    }

    fn find_json_types(&mut self) {
        for id in 0..self.types.len() {
            let Kind::Union(union) = &self.types[id].kind else {
                continue;
            };
            let types = union
                .variants
                .iter()
                .map(|variant| self.json_type(&variant.ty).unwrap_or(JsonType::Object));
            let types: Vec<JsonType> = types.collect();
            if let Kind::Union(union) = &mut self.types[id].kind {
                for (variant, json_type) in union.variants.iter_mut().zip(types) {
                    variant.json_type = json_type;
                }
            }
        }
    }

    /// Returns the notation of a type.
    pub(crate) fn notation(&self, ty: &TypeRef) -> String {
        match ty {
            TypeRef::Named(id) => self.types[*id].name.to_owned(),
            TypeRef::Id => "id".to_owned(),
            TypeRef::String => "string".to_owned(),
            TypeRef::Boolean => "boolean".to_owned(),
            TypeRef::Integer => "integer".to_owned(),
            TypeRef::Number => "number".to_owned(),
            TypeRef::Null => "null".to_owned(),
            TypeRef::Any => "any".to_owned(),
            TypeRef::Object => "object".to_owned(),
            TypeRef::List(inner) => format!("[{}]", self.notation(inner)),
            TypeRef::Map(inner) => format!("{{{}}}", self.notation(inner)),
            TypeRef::Nullable(inner) => format!("{}?", self.notation(inner)),
        }
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SCHEMA: Schema = Schema::new("2099-01-01", "{}");

    fn problem(types: &'static str) -> Option<String> {
        Table::parse(types, &SCHEMA).err().map(|error| error.to_string())
    }

    #[test]
    fn a_type_that_is_a_variant_of_itself_is_refused() {
        let nested = r#"{"types": {"A": {"union": ["B", "string"]}, "B": {"required": {"a": "A", "all": "[A]"}}}}"#;
        assert_eq!(problem(nested), None);
        for types in [
            r#"{"types": {"A": {"union": ["A"]}}}"#,
            r#"{"types": {"A": {"union": ["string", "B?"]}, "B": {"alias": "A"}}}"#,
            r#"{"types": {"A": {"methods": {"a": "A"}}}}"#,
        ] {
            let problem = problem(types).unwrap();
            assert!(problem.contains("other variants of `A` than itself"), "{problem}");
        }
    }

    #[test]
    fn a_decision_for_a_variant_that_the_union_lacks_is_refused() {
        for part in ["cases", "absent", "others"] {
            let at = |own: &str| if own == part { 1 } else { 0 };
            let (case, absent, others) = (at("cases"), at("absent"), at("others"));
            let objects =
                format!(r#"{{"tag": "a", "cases": [[["b"], {case}]], "absent": {absent}, "others": {others}}}"#);
            let table = format!(r#"{{"types": {{"A": {{}}, "U": {{"union": ["A"], "objects": {objects}}}}}}}"#);
            assert!(
                problem(table.leak()).unwrap().contains("a variant for each decision"),
                "{part}"
            );
        }
    }

    #[test]
    fn a_table_with_a_duplicate_part_is_refused() {
        let twice = r#"{"types": {"A": {"alias": "string"}, "B": {"alias": "A"}}, "names": {"b": "B"}, "types": {}}"#;
        assert!(problem(twice).unwrap().starts_with("`types`"));
    }
}
