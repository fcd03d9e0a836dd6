//! The requirements of a function to its route.

use std::any::{TypeId, type_name};

use mcp_adapters::hub;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::ask::form_schema;
use crate::error::RouteError;
use crate::member_order::{member_order, sort_by_member};
use crate::schema::{self, Input, Member};
use crate::state::States;

/// The requirements of a function to its route, which its extractors declare. They are checked when the route is added
/// to a router.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    args: Vec<ArgsType>,
    states: Vec<(TypeId, &'static str)>,
    /// Functions that derive the forms. Their error describes what no form can show.
    forms: Vec<fn() -> Result<hub::RequestedSchema, String>>,
    /// Extractors that only functions of some kinds of routes can take.
    limited: Vec<(&'static str, &'static [&'static str])>,
    /// Whether the function may send log messages.
    logs: bool,
}

/// The type of a function's arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArgsType {
    pub name: &'static str,
    pub schema: fn() -> Input,
    /// The names of its members, in their order.
    order: &'static [&'static str],
}

impl Signature {
    pub(super) fn add_args<T: DeserializeOwned + JsonSchema>(&mut self) {
        let name = type_name::<T>();
        let (schema, order) = (schema::input::<T>, member_order::<T>());
        self.args.push(ArgsType { name, schema, order });
    }

    pub(super) fn add_state<T: 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }

    pub(crate) fn add_form<T: DeserializeOwned + JsonSchema>(&mut self) {
        self.forms.push(form_schema::<T>);
    }

    /// Declares that the function may send log messages, so that the server declares the logging capability. The
    /// extractors [`Call`](crate::Call) and `Peer<ServerSide>` call this; an extractor of your own that contains one of
    /// them has to call it too.
    pub fn logs(&mut self) {
        self.logs = true;
    }

    pub(crate) fn may_log(&self) -> bool {
        self.logs
    }

    /// Declares that only functions of these kinds of routes can take an extractor.
    pub(crate) fn limit(&mut self, extractor: &'static str, kinds: &'static [&'static str]) {
        self.limited.push((extractor, kinds));
    }

    /// The type of the arguments, if the function takes arguments.
    pub(crate) fn args(&self, kind: &'static str, key: &str) -> Result<Option<ArgsType>, RouteError> {
        match self.args[..] {
            [first, second, ..] => Err(RouteError::TwoArgs {
                kind,
                key: key.to_owned(),
                types: [first.name, second.name],
            }),
            [only] => Ok(Some(only)),
            [] => Ok(None),
        }
    }

    /// Checks that the route can provide everything that the function takes.
    pub(crate) fn check(&self, kind: &'static str, key: &str, states: &States) -> Result<(), RouteError> {
        let is_misplaced = |(_, kinds): &&(_, &[&str])| !kinds.contains(&kind);
        if let Some((extractor, kinds)) = self.limited.iter().find(is_misplaced) {
            return Err(RouteError::Misplaced {
                kind,
                key: key.to_owned(),
                extractor,
                kinds: kinds.join(" or "),
            });
        }
        self.args(kind, key)?;
        let mut forms = self.forms.iter();
        if let Some(what) = forms.find_map(|form| form().err()) {
            let key = key.to_owned();
            return Err(RouteError::NoForm { kind, key, what });
        }
        match self.states.iter().find(|(id, _)| !states.has(*id)) {
            None => Ok(()),
            Some((_, type_name)) => Err(RouteError::NoState {
                kind,
                key: key.to_owned(),
                type_name,
            }),
        }
    }
}

impl ArgsType {
    /// The members, all of which are read from text, in the order of the struct.
    ///
    /// # Errors
    /// When a member can't be read from text, or when the values of the type aren't objects.
    pub fn texts(&self, kind: &'static str, key: &str) -> Result<Vec<Member>, RouteError> {
        let schema = schema::object_root((self.schema)().shown).map_err(|schema| RouteError::NoObject {
            kind,
            key: key.to_owned(),
            role: "arguments",
            type_name: self.name,
            schema: schema.to_string(),
            help: "take a struct that has a member for each argument",
        })?;
        let mut members = schema::members(&schema);
        sort_by_member(&mut members, self.order, |member| &member.name);
        match members.iter().find(|member| !member.is_text) {
            None => Ok(members),
            Some(member) => Err(RouteError::NoText {
                kind,
                key: key.to_owned(),
                type_name: self.name,
                argument: member.name.clone(),
                schema: member.schema.to_string(),
            }),
        }
    }

    /// Checks that the route has an argument or variable for each required member.
    pub fn check_required(
        &self,
        kind: &'static str,
        key: &str,
        members: &[Member],
        has: impl Fn(&str) -> bool,
    ) -> Result<(), RouteError> {
        match members.iter().find(|member| member.is_required && !has(&member.name)) {
            None => Ok(()),
            Some(member) => Err(RouteError::NoArgument {
                kind,
                key: key.to_owned(),
                type_name: self.name,
                argument: member.name.clone(),
            }),
        }
    }
}
