//! The names that a session uses by itself, which are data of each revision.

/// The methods of a revision that a session deals with by itself, and the keys of `_meta` that it writes and reads. `None` is
/// what the revision doesn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// The notification that says which changes the server will tell.
    pub acknowledge: Option<&'static str>,
    /// What it says.
    pub acknowledge_params: Members,
    /// The request that begins a session.
    pub begin: Option<&'static str>,
    /// What the client says in it.
    pub begin_params: Members,
    /// What the server says in its result.
    pub begin_result: Members,
    /// The notification that completes the handshake.
    pub begun: Option<&'static str>,
    /// The notification that a request is cancelled.
    pub cancel: Option<&'static str>,
    /// What it says.
    pub cancel_params: Members,
    /// The request that asks what a server is.
    pub discover: Option<&'static str>,
    /// What the server says in its result.
    pub discover_result: Members,
    /// The member of a filter that asks for changes of the list of prompts.
    pub filter_prompts: Option<&'static str>,
    /// The member of a filter that asks for changes of the list of resources.
    pub filter_resources: Option<&'static str>,
    /// The member of a filter that asks for changes of the list of tools.
    pub filter_tools: Option<&'static str>,
    /// The member of a filter that lists the URIs of resources.
    pub filter_uris: Option<&'static str>,
    /// The request to be notified of changes, which lasts as long as that.
    pub listen: Option<&'static str>,
    /// What the client says in it.
    pub listen_params: Members,
    /// The notification of a log message.
    pub log: Option<&'static str>,
    /// The request that asks whether the peer is alive.
    pub ping: Option<&'static str>,
    /// The notification of progress.
    pub progress: Option<&'static str>,
    /// The request that sets the level of log messages.
    pub set_level: Option<&'static str>,
    /// What it says.
    pub set_level_params: Members,
    /// The request to be notified of changes of a resource.
    pub subscribe: Option<&'static str>,
    /// What it says.
    pub subscribe_params: Members,
    /// The request that ends that.
    pub unsubscribe: Option<&'static str>,
    /// What it says.
    pub unsubscribe_params: Members,
    /// The key of the client's capabilities in a request.
    pub meta_capabilities: Option<&'static str>,
    /// The key of the client's name and version in a request.
    pub meta_client: Option<&'static str>,
    /// The key of the log level in a request.
    pub meta_log_level: Option<&'static str>,
    /// The key of the server's name and version in a result.
    pub meta_server: Option<&'static str>,
    /// The key of the subscription in a notification.
    pub meta_subscription: Option<&'static str>,
    /// The key of the revision in a request: it makes the request stand alone.
    pub meta_version: Option<&'static str>,
    /// The member of a result that says of which kind it is. The kind of one without it is the usual one.
    pub result_kind: Option<&'static str>,
}

impl Lifecycle {
    /// A revision that has none of it.
    pub const NONE: Self = Self {
        acknowledge: None,
        acknowledge_params: Members::NONE,
        begin: None,
        begin_params: Members::NONE,
        begin_result: Members::NONE,
        begun: None,
        cancel: None,
        cancel_params: Members::NONE,
        discover: None,
        discover_result: Members::NONE,
        filter_prompts: None,
        filter_resources: None,
        filter_tools: None,
        filter_uris: None,
        listen: None,
        listen_params: Members::NONE,
        log: None,
        ping: None,
        progress: None,
        set_level: None,
        set_level_params: Members::NONE,
        subscribe: None,
        subscribe_params: Members::NONE,
        unsubscribe: None,
        unsubscribe_params: Members::NONE,
        meta_capabilities: None,
        meta_client: None,
        meta_log_level: None,
        meta_server: None,
        meta_subscription: None,
        meta_version: None,
        result_kind: None,
    };
}

/// The members of an object that say what a session needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Members {
    /// What the object is about, by its name: a revision, or the URI of a resource.
    pub name: Option<&'static str>,
    /// Several revisions.
    pub versions: Option<&'static str>,
    /// Capabilities.
    pub capabilities: Option<&'static str>,
    /// A name and version.
    pub implementation: Option<&'static str>,
    /// A text for people or models.
    pub text: Option<&'static str>,
    /// The id of a request.
    pub request: Option<&'static str>,
    /// A log level.
    pub level: Option<&'static str>,
    /// The changes that a client wants to be notified of.
    pub filter: Option<&'static str>,
}

impl Members {
    /// An object with none of them.
    pub const NONE: Self = Self {
        name: None,
        versions: None,
        capabilities: None,
        implementation: None,
        text: None,
        request: None,
        level: None,
        filter: None,
    };
}

/// What an error says, whatever its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorRole {
    /// A header doesn't repeat what the message says.
    HeaderMismatch,
    /// The request needs a capability that the client didn't declare.
    MissingCapability,
    /// The server doesn't speak the revision.
    UnsupportedVersion,
}

/// How a revision says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownError {
    /// What it says.
    pub role: ErrorRole,
    /// The code.
    pub code: i64,
    /// The members of its data.
    pub data: Members,
}
