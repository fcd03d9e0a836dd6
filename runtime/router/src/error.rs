//! The errors of the router.

use mcp_adapters::Revision;

/// The reason why a router refuses a tool, resource, resource template, prompt, method or extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RouteError {
    /// A name or a URI is empty, so clients can't request the route.
    #[error("the {member} of a {kind} is empty; clients need it to request the {kind}")]
    Empty {
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The empty member, such as `name`.
        member: &'static str,
    },
    /// The router already has a route of this kind with this name or URI.
    #[error("the router has a {kind} `{key}` already{}", advice_for_duplicates(kind))]
    Duplicate {
        /// The kind of the route, such as `tool`.
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
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The use of the type: `arguments` or `structured content`.
        role: &'static str,
        /// The Rust type.
        type_name: &'static str,
        /// The schema that the type derives, as JSON.
        schema: String,
        /// Advice on how to correct it.
        help: &'static str,
    },
    /// A schema can't be used to validate values, for example because it isn't a JSON Schema, or refers to another
    /// document.
    #[error("the {role} of the tool `{tool}` can't be used for validation: {what}")]
    Schema {
        /// The tool's name.
        tool: String,
        /// The role of the schema: `input schema` or `output schema`.
        role: &'static str,
        /// The problem.
        what: String,
    },
    /// The settings of an extension violate its schema.
    #[error("the settings of the extension {id} are invalid: {what}")]
    Settings {
        /// The id of the extension.
        id: &'static str,
        /// The problem.
        what: String,
    },
    /// A function takes a state that the router doesn't have.
    #[error(
        "the {kind} `{key}` takes `State<{type_name}>`, and the router has no such state; call `Router::with_state` before the \
         {kind} is added"
    )]
    NoState {
        /// The kind of the route, such as `tool`.
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
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The Rust types of the first two.
        types: [&'static str; 2],
    },
    /// A function takes an extractor that only functions of other kinds of routes can take.
    #[error("the {kind} `{key}` takes `{extractor}`, which only a function of a {kinds} can; take another extractor")]
    Misplaced {
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The extractor.
        extractor: &'static str,
        /// The kinds of routes whose functions can take it.
        kinds: String,
    },
    /// Arguments of prompts and variables of resource templates are text, from which the type of this member can't be
    /// read.
    #[error(
        "the {kind} `{key}` can't have the argument `{argument}` of `Args<{type_name}>`, because it can't be read from text (its \
         schema is {schema}); take a string, a number, a Boolean or an enum without values"
    )]
    NoText {
        /// The kind of the route, such as `prompt`.
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
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The part of the form that can't be shown.
        what: String,
    },
    /// A function requires an argument that its route doesn't have.
    #[error(
        "the {kind} `{key}` has no argument `{argument}`, which `Args<{type_name}>` requires; name it as the {kind} does, or make \
         it an `Option`"
    )]
    NoArgument {
        /// The kind of the route, such as `resource template`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The Rust type.
        type_name: &'static str,
        /// The argument.
        argument: String,
    },
    /// A completion was added for an argument, or for a variable of a template, that the route doesn't have.
    #[error("the {kind} `{key}` has no argument `{argument}` to complete")]
    UnknownArgument {
        /// The kind of the route, such as `prompt`.
        kind: &'static str,
        /// The name, or the URI template.
        key: String,
        /// The argument.
        argument: String,
    },
    /// A function for only one revision can't handle this method.
    #[error("a function can't answer {method} for clients of revision {revision}: {what}")]
    Method {
        /// The method.
        method: &'static str,
        /// The revision.
        revision: &'static str,
        /// The problem.
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
        /// The problem.
        what: String,
    },
    /// The text isn't a URI template, or is one that URIs can't be matched against.
    #[error("`{template}` isn't a URI template that URIs can be matched against: {what}")]
    Template {
        /// The text.
        template: String,
        /// The problem.
        what: String,
    },
    /// With this route, the list that clients of a revision get would be invalid.
    #[error("the {kind} `{key}` makes the list of revision {revision} invalid: {what}")]
    Invalid {
        /// The kind of the route, such as `tool`.
        kind: &'static str,
        /// The name, or the address.
        key: String,
        /// The revision.
        revision: Revision,
        /// The problem, with its path in the list.
        what: String,
    },
}

/// Returns the value, or panics, for functions that document the panic: a refused route is a mistake in the program.
#[track_caller]
pub(super) fn or_panic<T>(result: Result<T, RouteError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Advice for a duplicate of a kind that [`Router::replace`](crate::Router::replace) takes.
fn advice_for_duplicates(kind: &str) -> &'static str {
    match kind {
        "tool" | "resource" | "resource template" | "prompt" => "; take another name, or `Router::replace`",
        _ => "",
    }
}
