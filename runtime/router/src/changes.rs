//! Notifications of changes of a router.

use std::sync::Arc;

use mcp_runtime_core::Change;

use super::shared::{ChangeStore, SharedChanges};
use crate::Router;

impl Router {
    /// Notifies the clients that the list of tools has changed, for example because the decision of a
    /// [filter](Self::filter) has changed. Adding and removing tools notifies them automatically. Clients of other
    /// instances are notified as well if the instances [share changes](Self::share_changes).
    pub fn tools_changed(&self) {
        self.inner.catalogue.notify(&Change::ToolList);
    }

    /// Notifies the clients that the list of resources has changed, such as that of a
    /// [template](super::TemplateRoute::list).
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

    /// Shares changes with the other instances of the server: changes of this instance are sent to them, and the
    /// clients of this instance are notified of theirs. Changes are calls of [`tools_changed`](Self::tools_changed) and
    /// similar methods and of [`resource_updated`](Self::resource_updated), and routes that are added or removed after
    /// this call. The route itself is only added to this instance.
    ///
    /// A client with sessions at several instances can be notified of one change by each of them.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which runs the tasks that send and receive.
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
