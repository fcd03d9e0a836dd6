//! From a subschema's keywords to its rules.

use serde_json::{Map, Value};

use crate::json_schema::pointer::child;
use crate::json_schema::{DEFINITIONS, Dialect};

use super::compile::{Base, Compiler};
use super::node::{Bound, Conditional, Contains, Items, Members, NodeId, Rule, TypeSet};
use super::number::{Divisor, Exact};
use super::pattern::Pattern;
use super::value::Json;

/// The keywords of one subschema.
pub(super) struct Keywords<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    at: String,
    base: Base,
    members: &'a Map<String, Value>,
    rules: Vec<Rule>,
}

impl<'c, 'a> Keywords<'c, 'a> {
    pub(super) fn new(compiler: &'c mut Compiler<'a>, at: String, base: Base, members: &'a Map<String, Value>) -> Self {
        Self {
            compiler,
            at,
            base,
            members,
            rules: Vec::new(),
        }
    }

    /// The rules, the cheapest first, because a verdict ends with the first that refuses.
    pub(super) fn rules(mut self) -> Vec<Rule> {
        for container in DEFINITIONS {
            self.named_schemas(container);
        }
        if self.dialect() == Dialect::Draft07 && self.members.contains_key("$ref") {
            // Draft-07 ignores what stands beside a reference.
            self.reference();
            return self.rules;
        }
        self.constants();
        self.numbers();
        self.strings();
        self.arrays();
        self.objects();
        self.reference();
        self.combinations();
        self.unevaluated();
        self.rules
    }

    fn constants(&mut self) {
        if let Some(value) = self.members.get("type") {
            let names = match value {
                Value::Array(names) if !names.is_empty() => names.as_slice(),
                single => std::slice::from_ref(single),
            };
            let mut types = TypeSet::default();
            let known = |name: &Value| name.as_str().is_some_and(|name| types.insert(name));
            if names.iter().all(known) {
                self.rules.push(Rule::Type(types));
            } else {
                self.refuse("type", "the name of a type, or several of them");
            }
        }
        if let Some(value) = self.members.get("const") {
            self.rules.push(Rule::Const(Json::owned(value)));
        }
        if let Some(values) = self.array("enum") {
            self.rules.push(Rule::Enum(values.iter().map(Json::owned).collect()));
        }
    }

    fn numbers(&mut self) {
        for bound in Bound::ALL {
            match self.members.get(bound.keyword()) {
                None => {}
                Some(Value::Number(limit)) => {
                    let exact = Exact::of(limit);
                    self.rules.push(Rule::Bound(bound, limit.clone(), exact));
                }
                Some(_) => self.refuse(bound.keyword(), "a number is needed"),
            }
        }
        let Some(value) = self.members.get("multipleOf") else {
            return;
        };
        let divisor = value
            .as_number()
            .and_then(|number| Some((number.clone(), Divisor::new(&Exact::of(number))?)));
        match divisor {
            Some((number, divisor)) => self.rules.push(Rule::MultipleOf(number, divisor)),
            None => self.refuse("multipleOf", "a positive number of at most 19 digits is needed"),
        }
    }

    fn strings(&mut self) {
        self.count("minLength", Rule::MinLength);
        self.count("maxLength", Rule::MaxLength);
        match self.text("pattern").map(Pattern::new) {
            None => {}
            Some(Ok(pattern)) => self.rules.push(Rule::Pattern(pattern)),
            Some(Err(problem)) => self.refuse("pattern", problem),
        }
    }

    fn arrays(&mut self) {
        self.count("minItems", Rule::MinItems);
        self.count("maxItems", Rule::MaxItems);
        match self.members.get("uniqueItems") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => self.rules.push(Rule::UniqueItems),
            Some(_) => self.refuse("uniqueItems", "a boolean is needed"),
        }
        let items = self.items();
        if !items.prefix.is_empty() || items.rest.is_some() {
            self.rules.push(Rule::Items(items));
        }
        if let Some(node) = self.schema("contains") {
            let (mut min, mut max) = (1, None);
            if self.dialect() == Dialect::Draft202012 {
                min = self.natural("minContains").unwrap_or(1);
                max = self.natural("maxContains");
            }
            self.rules.push(Rule::Contains(Contains { node, min, max }));
        }
    }

    fn items(&mut self) -> Items {
        if self.dialect() == Dialect::Draft202012 {
            return Items {
                prefix: self.schemas("prefixItems"),
                rest: self.schema("items"),
            };
        }
        // Compiled even where it means nothing, so that its errors are known.
        let additional = self.schema("additionalItems");
        match self.members.get("items") {
            Some(Value::Array(schemas)) => Items {
                prefix: self.listed("items", schemas),
                rest: additional,
            },
            _ => Items {
                prefix: Vec::new(),
                rest: self.schema("items"),
            },
        }
    }

    fn objects(&mut self) {
        self.count("minProperties", Rule::MinProperties);
        self.count("maxProperties", Rule::MaxProperties);
        if let Some(value) = self.members.get("required") {
            let names = self.names("required", value);
            self.rules.extend(names.map(Rule::Required));
        }
        if self.dialect() == Dialect::Draft202012 {
            self.dependent_required();
            let schemas = self.named_schemas("dependentSchemas");
            if !schemas.is_empty() {
                self.rules.push(Rule::DependentSchemas(schemas));
            }
        }
        self.dependencies();
        let named = self.named_schemas("properties");
        let patterns = self.pattern_properties();
        let others = self.schema("additionalProperties");
        if !named.is_empty() || !patterns.is_empty() || others.is_some() {
            self.rules.push(Rule::Members(Members {
                named,
                patterns,
                others,
            }));
        }
        if let Some(node) = self.schema("propertyNames") {
            self.rules.push(Rule::PropertyNames(node));
        }
    }

    fn pattern_properties(&mut self) -> Vec<(Pattern, NodeId)> {
        let mut patterns = Vec::new();
        for (source, node) in self.named_schemas("patternProperties") {
            match Pattern::new(&source) {
                Ok(pattern) => patterns.push((pattern, node)),
                Err(problem) => self.refuse("patternProperties", format!("`{source}`: {problem}")),
            }
        }
        patterns
    }

    fn dependent_required(&mut self) {
        let mut dependents = Vec::new();
        for (name, value) in self.object("dependentRequired") {
            if let Some(names) = self.names("dependentRequired", value) {
                dependents.push((name.clone(), names));
            }
        }
        if !dependents.is_empty() {
            self.rules
                .push(Rule::DependentRequired("dependentRequired", dependents));
        }
    }

    fn dependencies(&mut self) {
        let (mut names, mut schemas) = (Vec::new(), Vec::new());
        for (name, value) in self.object("dependencies") {
            if value.is_array() {
                if let Some(required) = self.names("dependencies", value) {
                    names.push((name.clone(), required));
                }
            } else {
                let at = child(&child(&self.at, "dependencies"), name);
                schemas.push((name.clone(), self.compiler.node(at, value, self.base)));
            }
        }
        if !names.is_empty() {
            self.rules.push(Rule::DependentRequired("dependencies", names));
        }
        if !schemas.is_empty() {
            self.rules.push(Rule::DependentSchemas(schemas));
        }
    }

    fn reference(&mut self) {
        if let Some(reference) = self.text("$ref") {
            let at = child(&self.at, "$ref");
            let target = self.compiler.referenced(at, reference, self.base);
            self.rules.extend(target.map(Rule::Ref));
        }
        if self.dialect() == Dialect::Draft07 {
            return;
        }
        if let Some(reference) = self.text("$dynamicRef") {
            let at = child(&self.at, "$dynamicRef");
            let target = self.compiler.dynamically_referenced(at, reference, self.base);
            self.rules.extend(target.map(Rule::Ref));
        }
    }

    fn combinations(&mut self) {
        type Combine = fn(Vec<NodeId>) -> Rule;
        let combinators: [(&str, Combine); 3] =
            [("allOf", Rule::AllOf), ("anyOf", Rule::AnyOf), ("oneOf", Rule::OneOf)];
        for (keyword, combine) in combinators {
            if self.members.contains_key(keyword) {
                let nodes = self.schemas(keyword);
                self.rules.push(combine(nodes));
            }
        }
        if let Some(node) = self.schema("not") {
            self.rules.push(Rule::Not(node));
        }
        let condition = self.schema("if");
        let then = self.schema("then");
        let otherwise = self.schema("else");
        // Without the others, what the condition evaluates still counts for `unevaluated…`.
        if let Some(condition) = condition {
            self.rules.push(Rule::If(Conditional {
                condition,
                then,
                otherwise,
            }));
        }
    }

    fn unevaluated(&mut self) {
        if self.dialect() == Dialect::Draft07 {
            return;
        }
        let members = self.schema("unevaluatedProperties");
        self.rules.extend(members.map(Rule::UnevaluatedMembers));
        let items = self.schema("unevaluatedItems");
        self.rules.extend(items.map(Rule::UnevaluatedItems));
    }

    fn dialect(&self) -> Dialect {
        self.compiler.dialect(self.base)
    }

    fn refuse(&mut self, keyword: &str, message: impl Into<String>) {
        self.compiler.refuse(child(&self.at, keyword), message);
    }

    fn count(&mut self, keyword: &str, rule: fn(u64) -> Rule) {
        let count = self.natural(keyword);
        self.rules.extend(count.map(rule));
    }

    fn natural(&mut self, keyword: &str) -> Option<u64> {
        let value = self.members.get(keyword)?;
        let count = value.as_number().and_then(|number| Exact::of(number).as_count());
        if count.is_none() {
            self.refuse(keyword, "a natural number is needed");
        }
        count
    }

    fn schema(&mut self, keyword: &str) -> Option<NodeId> {
        let schema = self.members.get(keyword)?;
        Some(self.compiler.node(child(&self.at, keyword), schema, self.base))
    }

    /// The schemas that `keyword` lists, of which there has to be one.
    fn schemas(&mut self, keyword: &str) -> Vec<NodeId> {
        match self.array(keyword) {
            Some(schemas) if schemas.is_empty() => {
                self.refuse(keyword, "at least one schema is needed");
                Vec::new()
            }
            Some(schemas) => self.listed(keyword, schemas),
            None => Vec::new(),
        }
    }

    fn listed(&mut self, keyword: &str, schemas: &'a [Value]) -> Vec<NodeId> {
        let list = child(&self.at, keyword);
        schemas
            .iter()
            .enumerate()
            .map(|(index, schema)| self.compiler.node(format!("{list}/{index}"), schema, self.base))
            .collect()
    }

    fn named_schemas(&mut self, keyword: &str) -> Vec<(String, NodeId)> {
        let container = child(&self.at, keyword);
        self.object(keyword)
            .map(|(name, schema)| {
                let node = self.compiler.node(child(&container, name), schema, self.base);
                (name.clone(), node)
            })
            .collect()
    }

    fn text(&mut self, keyword: &str) -> Option<&'a str> {
        let value = self.members.get(keyword)?;
        if !value.is_string() {
            self.refuse(keyword, "a string is needed");
        }
        value.as_str()
    }

    fn array(&mut self, keyword: &str) -> Option<&'a Vec<Value>> {
        let value = self.members.get(keyword)?;
        if !value.is_array() {
            self.refuse(keyword, "an array is needed");
        }
        value.as_array()
    }

    /// The members of `keyword`'s object; none if it is absent.
    fn object(&mut self, keyword: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        let value = self.members.get(keyword);
        if value.is_some_and(|value| !value.is_object()) {
            self.refuse(keyword, "an object is needed");
        }
        value.and_then(Value::as_object).into_iter().flatten()
    }

    fn names(&mut self, keyword: &str, value: &Value) -> Option<Vec<String>> {
        let names = value
            .as_array()
            .and_then(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
        if names.is_none() {
            self.refuse(keyword, "an array of names is needed");
        }
        names
    }
}
