//! Changes of a router, and the clients that are notified of them.

use std::sync::Arc;

use mcp_runtime_core::Change;

use super::shared::{ChangeStore, SharedChanges};
use crate::Router;

impl Router {
    /// Notifies the clients that the list of tools has changed: because a [filter](Self::filter) decides otherwise now, for example. Adding
    /// and removing tools notifies them automatically. Those of other instances are notified as well if they
    /// [share changes](Self::share_changes).
    pub fn tools_changed(&self) {
        self.inner.catalogue.notify(&Change::ToolList);
    }

    /// Notifies the clients that the list of resources has changed, such as that of a [template](super::TemplateRoute::list).
    pub fn resources_changed(&self) {
        self.inner.catalogue.notify(&Change::ResourceList);
    }

    /// Notifies the clients that the list of prompts has changed, as [`Self::tools_changed`] does.
    pub fn prompts_changed(&self) {
        self.inner.catalogue.notify(&Change::PromptList);
    }

    /// Notifies the clients that have subscribed to a resource that it has changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.inner.catalogue.notify(&Change::Resource(uri.into().into()));
    }

    /// Notifies the other instances of the server of what changes here, and the clients of this one of what changes there:
    /// [`tools_changed`](Self::tools_changed) and its like, [`resource_updated`](Self::resource_updated), and routes that are added and
    /// removed after this. A route itself is added to this instance alone.
    ///
    /// A client that has sessions at several instances may be notified of one change by each.
    ///
    /// # Panics
    /// Outside of a runtime of tokio, which runs the tasks that send and receive.
    #[must_use]
    pub fn share_changes(self, store: impl ChangeStore) -> Self {
        let catalogue = Arc::downgrade(&self.inner.catalogue);
        let notify = move |changes: &[Change]| {
            let Some(catalogue) = catalogue.upgrade() else {
                return false;
            };
            changes.iter().for_each(|change| catalogue.notify_here(change));
            true
        };
        let shared = SharedChanges::start(Arc::new(store), notify);
        *self.inner.catalogue.shared.lock() = Some(shared);
        self
    }
}
