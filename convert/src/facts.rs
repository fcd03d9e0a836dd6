//! What is true of a revision as a whole.

/// What is true of a revision as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// It isn't a draft.
    pub released: bool,
    /// Where the specification describes the definitions of the schema; `{anchor}` stands for the name of one in lower case.
    pub specification: &'static str,
    /// Peers may send several messages in one array.
    pub batches: bool,
    /// An error response may lack the id. In the other revisions there is no error for a message whose id can't be read.
    pub errors_without_id: bool,
    /// A session begins with the request `initialize`.
    pub initializes: bool,
    /// The header of HTTP requests that names the revision.
    pub version_header: Option<&'static str>,
    /// The header with the id of the session that an HTTP server may give each client.
    pub session_header: Option<&'static str>,
    /// An HTTP client of a session may open a stream for what is related to no request.
    pub listening: bool,
    /// An HTTP client may go on with a stream that was cut.
    pub resumption: bool,
    /// HTTP clients expect an event without a message at the beginning of a stream, to come back by.
    pub polling: bool,
    /// An HTTP client cancels a request by closing its response, instead of by a notification.
    pub cancels_by_closing: bool,
    /// A server over HTTP without metadata is authorized at its own origin: at what the metadata of that authorization server names,
    /// or else at `/authorize`, `/token` and `/register`.
    pub authorizes_at_origin: bool,
    /// A call of a tool with invalid arguments gets a result with `isError`, which a model can read, instead of an error.
    pub input_errors_as_results: bool,
    /// The status of an HTTP response with an error, by the code of the error; 200 for the others.
    pub statuses: &'static [(i64, u16)],
    /// The headers of HTTP requests that repeat what the body says.
    pub mirrors: Mirrors,
}

impl Default for Facts {
    fn default() -> Self {
        Self::NONE
    }
}

impl Facts {
    /// None of it is true.
    pub const NONE: Self = Self {
        released: false,
        specification: "",
        batches: false,
        errors_without_id: false,
        initializes: false,
        version_header: None,
        session_header: None,
        listening: false,
        resumption: false,
        polling: false,
        cancels_by_closing: false,
        authorizes_at_origin: false,
        input_errors_as_results: false,
        statuses: &[],
        mirrors: Mirrors::NONE,
    };

    /// The address at which the specification describes a definition of the schema.
    #[must_use]
    pub fn link(&self, definition: &str) -> String {
        self.specification.replace("{anchor}", &definition.to_lowercase())
    }

    /// The status of an HTTP response with an error of this code, unless it is 200.
    #[must_use]
    pub fn status(&self, code: i64) -> Option<u16> {
        let mut statuses = self.statuses.iter();
        statuses.find(|(of, _)| *of == code).map(|(_, status)| *status)
    }
}

/// The headers of HTTP requests that repeat what the body says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mirrors {
    /// The header that repeats the method.
    pub method: Option<&'static str>,
    /// The headers that repeat a parameter.
    pub params: &'static [MirroredParam],
    /// The headers that repeat arguments of what is called.
    pub arguments: Option<MirroredArguments>,
}

impl Mirrors {
    /// There are none.
    pub const NONE: Self = Self {
        method: None,
        params: &[],
        arguments: None,
    };
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

/// The headers that repeat those arguments whose schema says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredArguments {
    /// What the name of each header begins with.
    pub prefix: &'static str,
    /// The keyword in the schema of an argument that has the rest of the name.
    pub keyword: &'static str,
    /// The request that has the arguments.
    pub call: MirroredCall,
    /// The request whose result has their schema.
    pub list: MirroredList,
}

/// The request that has the arguments, and its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredCall {
    /// Its method.
    pub method: &'static str,
    /// What is called.
    pub name: &'static str,
    /// The arguments.
    pub arguments: &'static str,
}

/// The request for what can be called, and members of its parameters and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirroredList {
    /// Its method.
    pub method: &'static str,
    /// The list in the result.
    pub items: &'static str,
    /// The member of an item by which it is called.
    pub name: &'static str,
    /// The member of an item with the schema of the arguments.
    pub schema: &'static str,
    /// The parameter that asks for another page.
    pub cursor: &'static str,
    /// The member of the result that names the next page.
    pub next: &'static str,
}
