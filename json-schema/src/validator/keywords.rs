//! Compiles the keywords of a subschema into rules.

mod values;

use std::collections::BinaryHeap;

use serde_json::{Map, Value};

use crate::pointer::child;
use crate::{DEFINITIONS, Dialect};

use super::compiler::{Base, Compiler};
use super::error::PatternError;
use super::node::{Bound, Conditional, Contains, Items, Members, NodeId, Rule};
use super::number::{Divisor, Exact};
use super::pattern::Pattern;
use crate::json::Json;

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

    /// Returns the rules, the cheapest first, because a verdict ends with the first violation.
    pub(super) fn rules(mut self) -> Vec<Rule> {
        for container in DEFINITIONS {
            self.named_schemas(container);
        }
        if self.dialect() == Dialect::Draft07 && self.value("$ref").is_some() {
            // Draft-07 ignores the keywords next to a reference.
            self.reference();
            return self.rules;
        }
        self.annotations();
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

    /// Checks the values of annotations, which have no rules.
    fn annotations(&mut self) {
        for keyword in [
            "$comment",
            "contentEncoding",
            "contentMediaType",
            "description",
            "format",
            "title",
        ] {
            self.text(keyword);
        }
        for keyword in ["readOnly", "writeOnly"] {
            self.flag(keyword);
        }
        self.array("examples");
        if self.dialect() == Dialect::Draft202012 {
            self.flag("deprecated");
            self.schema("contentSchema");
        }
    }

    fn constants(&mut self) {
        let types = self.types();
        self.rules.extend(types.map(Rule::Type));
        if let Some(value) = self.value("const") {
            self.rules.push(Rule::Const(Json::owned(value)));
        }
        if let Some(values) = self.array("enum") {
            self.rules.push(Rule::Enum(values.iter().map(Json::owned).collect()));
        }
    }

    fn numbers(&mut self) {
        for bound in Bound::ALL {
            match self.value(bound.keyword()) {
                None => {}
                Some(Value::Number(limit)) => {
                    let exact = Exact::of(limit);
                    self.rules.push(Rule::Bound(bound, limit.clone(), exact));
                }
                Some(value) => self.refuse_value(self.pointer(bound.keyword()), "a number", value),
            }
        }
        let Some(value) = self.value("multipleOf") else {
            return;
        };
        let divisor = value
            .as_number()
            .and_then(|number| Some((number.clone(), Divisor::new(&Exact::of(number))?)));
        match divisor {
            Some((number, divisor)) => self.rules.push(Rule::MultipleOf(number, divisor)),
            None => self.refuse_value(
                self.pointer("multipleOf"),
                "a positive number of at most 19 digits",
                value,
            ),
        }
    }

    fn strings(&mut self) {
        self.count("minLength", Rule::MinLength);
        self.count("maxLength", Rule::MaxLength);
        match self.text("pattern").map(|source| self.compiled(source)) {
            None => {}
            Some(Ok(pattern)) => self.rules.push(Rule::Pattern(pattern)),
            Some(Err(error)) => self.refuse_pattern("pattern", error),
        }
    }

    fn arrays(&mut self) {
        self.count("minItems", Rule::MinItems);
        self.count("maxItems", Rule::MaxItems);
        if self.flag("uniqueItems") {
            self.rules.push(Rule::UniqueItems);
        }
        let items = self.items();
        if !items.prefix.is_empty() || items.rest.is_some() {
            self.rules.push(Rule::Items(items));
        }
        let (mut min, mut max) = (1, None);
        if self.dialect() == Dialect::Draft202012 {
            min = self.natural("minContains").unwrap_or(1);
            max = self.natural("maxContains");
        }
        if let Some(node) = self.schema("contains") {
            self.rules.push(Rule::Contains(Contains { node, min, max }));
        }
    }

    fn items(&mut self) -> Items {
        if self.dialect() == Dialect::Draft202012 {
            let prefix = self.schemas("prefixItems");
            let rest = match self.value("items") {
                Some(Value::Array(_)) => {
                    let message = "in 2020-12 this is one schema: `prefixItems` lists schemas by position";
                    self.refuse("items", message);
                    None
                }
                _ => self.schema("items"),
            };
            return Items { prefix, rest };
        }
        // Compiled even if it has no effect, so that its errors are reported.
        let additional = self.schema("additionalItems");
        match self.value("items") {
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
        if let Some(value) = self.value("required") {
            let names = self.names(self.pointer("required"), value);
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
        let named = BinaryHeap::from(self.named_schemas("properties")).into_sorted_vec();
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
            match self.compiled(&source) {
                Ok(pattern) => patterns.push((pattern, node)),
                Err(error) => {
                    let message = format!("`{source}`: {}", error.message);
                    self.refuse_pattern("patternProperties", PatternError { message, ..error });
                }
            }
        }
        patterns
    }

    /// Compiles a regular expression, unless the memory for all of them is used up.
    fn compiled(&mut self, source: &str) -> Result<Pattern, PatternError> {
        let memory = &mut self.compiler.resources.memory;
        memory.check().map_err(|error| error.to_string())?;
        let pattern = Pattern::new(source)?;
        memory.charge(pattern.bytes()).map_err(|error| error.to_string())?;
        Ok(pattern)
    }

    fn dependent_required(&mut self) {
        let mut dependents = Vec::new();
        let container = self.pointer("dependentRequired");
        for (name, value) in self.object("dependentRequired") {
            let at = child(&container, name);
            if let Some(names) = self.names(at, value) {
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
        let container = self.pointer("dependencies");
        for (name, value) in self.object("dependencies") {
            let at = child(&container, name);
            if !value.is_array() {
                schemas.push((name.clone(), self.compiler.node(at, value, self.base)));
            } else if let Some(required) = self.names(at, value) {
                names.push((name.clone(), required));
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
            let at = self.pointer("$ref");
            let target = self.compiler.referenced(at, reference, self.base);
            self.rules.extend(target.map(Rule::Ref));
        }
        if self.dialect() == Dialect::Draft07 {
            return;
        }
        if let Some(reference) = self.text("$dynamicRef") {
            let at = self.pointer("$dynamicRef");
            let target = self.compiler.dynamically_referenced(at, reference, self.base);
            self.rules.extend(target.map(Rule::Ref));
        }
    }

    fn combinations(&mut self) {
        type Combine = fn(Vec<NodeId>) -> Rule;
        let combinators: [(&str, Combine); 3] =
            [("allOf", Rule::AllOf), ("anyOf", Rule::AnyOf), ("oneOf", Rule::OneOf)];
        for (keyword, combine) in combinators {
            if self.value(keyword).is_some() {
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
        // The condition matters for `unevaluated…` even without `then` and `else`.
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
}
