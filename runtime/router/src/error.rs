//! The errors of the router.

use mcp_adapters::Revision;

/// Why a router refuses a tool, a resource, a resource template or a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// A name or a URI is empty, so that no client can request it.
    #[error("the {member} of a {kind} is empty; clients ask for it by that")]
    Empty {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The empty member, such as `name`.
        member: &'static str,
    },
    /// The router already has a route of this kind with this name or URI.
    #[error("the router has a {kind} `{key}` already; take another name, or `Router::replace`")]
    Duplicate {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
    },
    /// Arguments and structured content are JSON objects, and not all values of this type are.
    #[error(
        "the {kind} `{key}` can't have {role} of the type `{type_name}`, because its values are not all JSON objects \
         (its schema is {schema}); {help}"
    )]
    NoObject {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// What the type is for: `arguments` or `structured content`.
        role: &'static str,
        /// The Rust type.
        type_name: &'static str,
        /// The schema that the type derives, as JSON.
        schema: String,
        /// What to do about it.
        help: &'static str,
    },
    /// A schema isn't one that values can be validated by: it is no JSON Schema, or refers to another document, for example.
    #[error("the {role} of the tool `{tool}` can't be used for validation: {what}")]
    Schema {
        /// The tool's name.
        tool: String,
        /// Which one: `input schema` or `output schema`.
        role: &'static str,
        /// What is wrong.
        what: String,
    },
    /// The settings of an extension aren't what its schema requires.
    #[error("the settings of the extension {id} are invalid: {what}")]
    Settings {
        /// The id of the extension.
        id: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A function takes a state that the router doesn't have.
    #[error(
        "the {kind} `{key}` takes `State<{type_name}>`, and the router has no such state; call `Router::with_state` before the \
         {kind} is added"
    )]
    NoState {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The Rust type.
        type_name: &'static str,
    },
    /// A function takes its arguments twice.
    #[error(
        "the {kind} `{key}` takes `Args` twice, of the types `{}` and `{}`; take one struct with the members of both",
        types[0], types[1]
    )]
    TwoArgs {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The Rust types of the first two.
        types: [&'static str; 2],
    },
    /// A function takes an extractor that is for other kinds of routes.
    #[error("the {kind} `{key}` takes `{extractor}`, which only a function of a {kinds} can; take another extractor")]
    Misplaced {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The extractor.
        extractor: &'static str,
        /// The kinds of routes whose functions can take it.
        kinds: String,
    },
    /// Arguments of prompts and variables of resource templates are text, and a member of this type can't be read from it.
    #[error(
        "the {kind} `{key}` can't have the argument `{argument}` of `Args<{type_name}>`, because it can't be read from text (its \
         schema is {schema}); take a string, a number, a Boolean or an enum without values"
    )]
    NoText {
        /// What kind of route it is, such as `prompt`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The Rust type.
        type_name: &'static str,
        /// The argument.
        argument: String,
        /// Its schema, as JSON.
        schema: String,
    },
    /// A function takes a form that no client can show.
    #[error("the {kind} `{key}` can't ask the user: {what}")]
    NoForm {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// What can't be shown.
        what: String,
    },
    /// A function requires an argument that its route doesn't have.
    #[error(
        "the {kind} `{key}` has no argument `{argument}`, which `Args<{type_name}>` requires; name it as the {kind} does, or make \
         it an `Option`"
    )]
    NoArgument {
        /// What kind of route it is, such as `resource template`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The Rust type.
        type_name: &'static str,
        /// The argument.
        argument: String,
    },
    /// A completion is for an argument, or for a variable of a template, that the route doesn't have.
    #[error("the {kind} `{key}` has no argument `{argument}` to complete")]
    UnknownArgument {
        /// What kind of route it is, such as `prompt`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The argument.
        argument: String,
    },
    /// The method can't be answered by a function for one revision.
    #[error("a function can't answer {method} for clients of revision {revision}: {what}")]
    Method {
        /// The method.
        method: &'static str,
        /// The revision.
        revision: &'static str,
        /// What is wrong.
        what: &'static str,
    },
    /// A custom method has the name of one that the protocol declares.
    #[error("{method} is a method of the protocol, and not a custom one")]
    Declared {
        /// The method.
        method: String,
    },
    /// The address of a resource isn't a URI.
    #[error("`{uri}` isn't the URI of a resource: {what}")]
    Uri {
        /// The text.
        uri: String,
        /// What is wrong.
        what: String,
    },
    /// The text isn't a URI template that URIs can be matched by.
    #[error("`{template}` is no URI template that addresses can be matched by: {what}")]
    Template {
        /// The text.
        template: String,
        /// What is wrong.
        what: String,
    },
    /// The list that clients of a revision get would be invalid with it.
    #[error("the {kind} `{key}` makes the list of revision {revision} invalid: {what}")]
    Invalid {
        /// What kind of route it is, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The revision.
        revision: Revision,
        /// Where and what, as a path into the list.
        what: String,
    },
}

/// The value, for functions that document a panic: a route that is refused is a mistake in the program.
#[track_caller]
pub(super) fn or_panic<T>(result: Result<T, RouteError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}
