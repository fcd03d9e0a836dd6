//! Facts about a revision as a whole.

/// Facts about a revision as a whole, such as the features of its transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// Whether the revision is released, and not a draft.
    pub released: bool,
    /// The URL at which the specification describes a definition of the schema; `{anchor}` is replaced by the name of
    /// the definition in lower case.
    pub specification: &'static str,
    /// Whether peers may send several messages in one array.
    pub batches: bool,
    /// Whether an error response may lack the id. In the other revisions, a message whose id can't be read gets no
    /// response.
    pub errors_without_id: bool,
    /// Whether a session starts with the request `initialize`.
    pub initializes: bool,
    /// The HTTP request header that names the revision.
    pub version_header: Option<&'static str>,
    /// The header with the id of the session that an HTTP server may assign to a client.
    pub session_header: Option<&'static str>,
    /// Whether an HTTP client with a session may open a stream for messages that belong to no request.
    pub listening: bool,
    /// Whether an HTTP client may resume a stream that was interrupted.
    pub resumption: bool,
    /// Whether HTTP clients expect an event without a message at the start of a stream, by whose id they can resume the
    /// stream.
    pub polling: bool,
    /// Whether an HTTP client cancels a request by closing its response, instead of by a notification.
    pub cancels_by_closing: bool,
    /// Whether an HTTP server without protected resource metadata has its authorization server at its own origin, with
    /// the endpoints that the metadata of that authorization server names, or else `/authorize`, `/token` and
    /// `/register`.
    pub authorizes_at_origin: bool,
    /// Whether a tool call with invalid arguments gets a result with `isError`, which a model can read, instead of an
    /// error.
    pub input_errors_as_results: bool,
    /// The HTTP status of a response with an error, by the code of the error. Other codes have 200.
    pub statuses: &'static [(i64, u16)],
    /// The HTTP request headers that repeat parts of the body.
    pub mirrors: Mirrors,
}

impl Facts {
    /// Returns the URL at which the specification describes a definition of the schema.
    #[must_use]
    pub fn link(&self, definition: &str) -> String {
        self.specification.replace("{anchor}", &definition.to_lowercase())
    }

    /// Returns the HTTP status of a response with an error of this code, unless it is 200.
    #[must_use]
    pub fn status(&self, code: i64) -> Option<u16> {
        let mut statuses = self.statuses.iter();
        statuses.find(|(of, _)| *of == code).map(|(_, status)| *status)
    }
}

/// The HTTP request headers that repeat parts of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mirrors {
    /// The header that repeats the method.
    pub method: Option<&'static str>,
    /// The headers that repeat a parameter.
    pub params: &'static [MirroredParam],
    /// The headers that repeat arguments of what is called.
    pub arguments: Option<MirroredArguments>,
}

/// A header that repeats a parameter of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredParam {
    /// The name of the header.
    pub header: &'static str,
    /// The method of the request.
    pub method: &'static str,
    /// The parameter.
    pub parameter: &'static str,
}

/// The headers that repeat arguments whose schema has a certain keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredArguments {
    /// The prefix of the name of each header.
    pub prefix: &'static str,
    /// The keyword in the schema of an argument whose value is the rest of the name.
    pub keyword: &'static str,
    /// The request that has the arguments.
    pub call: MirroredCall,
    /// The request whose result has the schema of the arguments.
    pub list: MirroredList,
}

/// The request that has the arguments, and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredCall {
    /// Its method.
    pub method: &'static str,
    /// The parameter that names the item to call, such as a tool.
    pub name: &'static str,
    /// The parameter with the arguments.
    pub arguments: &'static str,
}

/// The request that lists the items that can be called, and members of its parameters and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredList {
    /// Its method.
    pub method: &'static str,
    /// The member of the result with the items.
    pub items: &'static str,
    /// The member of an item with its name.
    pub name: &'static str,
    /// The member of an item with the schema of the arguments.
    pub schema: &'static str,
    /// The parameter that requests another page.
    pub cursor: &'static str,
    /// The member of the result that names the next page.
    pub next: &'static str,
}
