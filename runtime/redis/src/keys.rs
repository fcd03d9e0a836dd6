//! The keys of the store.

use mcp_runtime_http::server::LogId;

/// The names of keys. Those of one session have one hash tag, so that they are on one node of a cluster.
pub(super) struct Keys<'a>(pub(super) &'a str);

impl Keys<'_> {
    pub(super) fn session(&self, id: &str) -> String {
        format!("{}:{{{id}}}", self.0)
    }

    pub(super) fn log(&self, log: &LogId) -> String {
        format!("{}:{{{}}}:{}:{}", self.0, log.session, log.engine, log.stream)
    }

    pub(super) fn inbox(&self, instance: &str) -> String {
        format!("{}:inbox:{instance}", self.0)
    }

    pub(super) fn states(&self, principal: &str) -> String {
        format!("{}:states:{principal}", self.0)
    }

    pub(super) fn changes(&self) -> String {
        format!("{}:changes", self.0)
    }

    pub(super) fn alive(&self, instance: &str) -> String {
        format!("{}:alive:{instance}", self.0)
    }
}
