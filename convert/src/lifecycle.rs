//! The names of the methods and members that sessions use, by revision.

/// The methods and members of a revision that a session uses. `None` if the revision doesn't have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lifecycle {
    /// The notification that acknowledges a subscription.
    pub acknowledge: Option<&'static str>,
    /// The members of its parameters.
    pub acknowledge_params: Members,
    /// The request that starts a session.
    pub begin: Option<&'static str>,
    /// The members of its parameters.
    pub begin_params: Members,
    /// The members of its result.
    pub begin_result: Members,
    /// The notification that completes the handshake.
    pub begun: Option<&'static str>,
    /// The notification that cancels a request.
    pub cancel: Option<&'static str>,
    /// The members of its parameters.
    pub cancel_params: Members,
    /// The request that discovers a server.
    pub discover: Option<&'static str>,
    /// The members of its result.
    pub discover_result: Members,
    /// The member of a filter for changes of the list of prompts.
    pub filter_prompts: Option<&'static str>,
    /// The member of a filter for changes of the list of resources.
    pub filter_resources: Option<&'static str>,
    /// The member of a filter for changes of the list of tools.
    pub filter_tools: Option<&'static str>,
    /// The member of a filter with the URIs of resources.
    pub filter_uris: Option<&'static str>,
    /// The request that subscribes to changes. It lasts as long as the subscription.
    pub listen: Option<&'static str>,
    /// The members of its parameters.
    pub listen_params: Members,
    /// The notification of a log message.
    pub log: Option<&'static str>,
    /// The request that asks whether the peer is alive.
    pub ping: Option<&'static str>,
    /// The notification of progress.
    pub progress: Option<&'static str>,
    /// The request that sets the level of log messages.
    pub set_level: Option<&'static str>,
    /// The members of its parameters.
    pub set_level_params: Members,
    /// The request that subscribes to the changes of a resource.
    pub subscribe: Option<&'static str>,
    /// The members of its parameters.
    pub subscribe_params: Members,
    /// The request that unsubscribes from the changes of a resource.
    pub unsubscribe: Option<&'static str>,
    /// The members of its parameters.
    pub unsubscribe_params: Members,
    /// The key of `_meta` in a request for the client's capabilities.
    pub meta_capabilities: Option<&'static str>,
    /// The key of `_meta` in a request for the client's name and version.
    pub meta_client: Option<&'static str>,
    /// The key of `_meta` in a request for the minimum log level.
    pub meta_log_level: Option<&'static str>,
    /// The key of `_meta` in a request for the progress token.
    pub meta_progress: Option<&'static str>,
    /// The key of `_meta` in a result for the server's name and version.
    pub meta_server: Option<&'static str>,
    /// The key of `_meta` in a notification for the id of the subscription.
    pub meta_subscription: Option<&'static str>,
    /// The key of `_meta` in a request for the revision. A request with it needs no session.
    pub meta_version: Option<&'static str>,
    /// The member of a result with its kind. A result without it has the usual kind of the method.
    pub result_kind: Option<&'static str>,
    /// The presets of the messages that a session creates automatically.
    pub messages: &'static [OwnMessage],
    /// The revisions that messages can list, if the schema enumerates them. Empty if they can list any.
    pub versions: &'static [&'static str],
    /// The usual kinds of results, each with the methods whose results always have this kind, unless an extension
    /// defines another.
    pub kinds: &'static [(&'static str, &'static [&'static str])],
}

impl Lifecycle {
    /// Returns the presets for the parameters of a method.
    #[must_use]
    pub fn params_of(&self, method: &str) -> Presets {
        self.message(method).params
    }

    /// Returns the presets for the results of a method.
    #[must_use]
    pub fn result_of(&self, method: &str) -> Presets {
        self.message(method).result
    }

    /// Whether messages can list a revision.
    #[must_use]
    pub fn can_list(&self, revision: &str) -> bool {
        self.versions.is_empty() || self.versions.contains(&revision)
    }

    fn message(&self, method: &str) -> OwnMessage {
        let mut messages = self.messages.iter();
        let message = messages.find(|message| message.method == method);
        message.copied().unwrap_or_default()
    }

    /// Returns the usual kind of a method's results. `None` if the results don't name their kind, or can be of several
    /// kinds.
    #[must_use]
    pub fn usual_kind(&self, method: &str) -> Option<&'static str> {
        let mut kinds = self.kinds.iter();
        let (kind, _) = kinds.find(|(_, methods)| methods.contains(&method))?;
        Some(kind)
    }
}

/// The presets of a method whose messages a session creates automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnMessage {
    /// The method.
    pub method: &'static str,
    /// The presets for the parameters.
    pub params: Presets,
    /// The presets for the result.
    pub result: Presets,
}

/// Default values in an object, as names and JSON. Values that the session sets replace them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presets {
    /// The members.
    pub members: &'static [(&'static str, &'static str)],
    /// The keys of `_meta`.
    pub meta: &'static [(&'static str, &'static str)],
}

/// The members of parameters, results and error data that a session uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Members {
    /// The name of a revision, or the URI of a resource.
    pub name: Option<&'static str>,
    /// A list of revisions.
    pub versions: Option<&'static str>,
    /// Capabilities.
    pub capabilities: Option<&'static str>,
    /// The name and version of an implementation.
    pub implementation: Option<&'static str>,
    /// A text for people or models, such as instructions.
    pub text: Option<&'static str>,
    /// The id of a request.
    pub request: Option<&'static str>,
    /// A log level.
    pub level: Option<&'static str>,
    /// The filter of a subscription to changes.
    pub filter: Option<&'static str>,
}

/// The meaning of an error. Its code depends on the revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorRole {
    /// A header differs from the message.
    HeaderMismatch,
    /// The client has to provide input, and can then repeat the request.
    InputRequired,
    /// The request needs a capability that the client didn't declare.
    MissingCapability,
    /// The server doesn't support the revision.
    UnsupportedVersion,
}

/// The code and data of an error in a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownError {
    /// The meaning.
    pub role: ErrorRole,
    /// The code.
    pub code: i64,
    /// The members of its data.
    pub data: Members,
    /// The input that the error requests from the client.
    pub asks: Option<Asks>,
}

/// The input that an error requests from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asks {
    /// The method of the requests that the client has to answer.
    pub method: &'static str,
    /// The member of the error's data that has the parameters of each.
    pub params: &'static str,
}
