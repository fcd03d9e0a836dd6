//! Descriptions of protocol extensions, which their crates provide.

use crate::{Method, Schema};

/// The description of a protocol extension, which its crate provides.
///
/// <https://modelcontextprotocol.io/docs/extensions/overview>
#[derive(Debug, Clone, Copy)]
pub struct Extension {
    /// The identifier by which peers declare it in the member `extensions` of their capabilities.
    pub id: &'static str,
    /// The revision of the protocol that it extends.
    pub extends: &'static str,
    /// Its schema.
    pub schema: &'static Schema,
    /// Its own methods.
    pub methods: &'static [Method],
    /// The results that it adds to requests of the protocol.
    pub results: &'static [AddedResult],
    /// The headers of HTTP requests that repeat a parameter.
    pub headers: &'static [RepeatedParameter],
    /// The members that it adds to `_meta` of types of the protocol.
    pub meta: &'static [MetaMember],
    /// The JSON Pointer of the definition of its settings, the value by which peers declare it.
    pub settings: Option<&'static str>,
}

/// A result that an extension adds to a request of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedResult {
    /// The method of the request.
    pub method: &'static str,
    /// The kind that distinguishes the result from others, such as `task` in `resultType`. `None` if it has no kind.
    pub kind: Option<&'static str>,
    /// The JSON Pointer of its definition.
    pub definition: &'static str,
}

/// A header of HTTP requests that repeats a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedParameter {
    /// The name of the header.
    pub header: &'static str,
    /// The method of the requests that have the header.
    pub method: &'static str,
    /// The member of their parameters.
    pub parameter: &'static str,
}

/// A member that an extension adds to `_meta` of a type of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaMember {
    /// The name of the type in the schema of the protocol, such as `Tool`.
    pub of: &'static str,
    /// The key in `_meta`.
    pub member: &'static str,
    /// The JSON Pointer of the definition of its value, in the extension's schema.
    pub definition: &'static str,
}

impl Extension {
    /// Creates the description of an extension that only has methods.
    #[must_use]
    pub const fn new(
        id: &'static str,
        extends: &'static str,
        methods: &'static [Method],
        schema: &'static Schema,
    ) -> Self {
        Self {
            id,
            extends,
            schema,
            methods,
            results: &[],
            headers: &[],
            meta: &[],
            settings: None,
        }
    }

    /// Sets the results that it adds to requests of the protocol.
    #[must_use]
    pub const fn results(mut self, results: &'static [AddedResult]) -> Self {
        self.results = results;
        self
    }

    /// Sets the headers that repeat parameters.
    #[must_use]
    pub const fn headers(mut self, headers: &'static [RepeatedParameter]) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the members that it adds to `_meta` of types of the protocol.
    #[must_use]
    pub const fn meta(mut self, members: &'static [MetaMember]) -> Self {
        self.meta = members;
        self
    }

    /// Sets the definition of its settings.
    #[must_use]
    pub const fn settings(mut self, definition: &'static str) -> Self {
        self.settings = Some(definition);
        self
    }
}
