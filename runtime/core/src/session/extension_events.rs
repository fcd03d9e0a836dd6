//! Additions of extensions to the subscriptions of clients.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use futures_core::Stream;
use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{Extra, RawJson, RequestId, UnknownMethod};

use super::json_edit::with_meta;
use super::negotiated::Negotiated;
use crate::change::{Change, ChangeQueue};

/// The additions of extensions to a subscription.
#[derive(Default)]
pub struct ExtensionEvents {
    /// Members for the acknowledgement of the subscription.
    pub agreed: Extra,
    /// The additional notifications, one stream per extension.
    pub notifications: Vec<Notifications>,
}

/// Notifications of an extension, which are sent until the subscription ends.
pub type Notifications = Pin<Box<dyn Stream<Item = UnknownMethod> + Send>>;

impl ExtensionEvents {
    /// Returns the next notification of any extension; `None` when all streams have ended.
    fn poll_next(&mut self, context: &mut task::Context<'_>) -> Poll<Option<UnknownMethod>> {
        let mut next = Poll::Ready(None);
        self.notifications.retain_mut(|stream| {
            if matches!(next, Poll::Ready(Some(_))) {
                return true;
            }
            match stream.as_mut().poll_next(context) {
                Poll::Ready(None) => return false,
                Poll::Ready(notification) => next = Poll::Ready(notification),
                Poll::Pending => next = Poll::Pending,
            }
            true
        });
        next
    }
}

/// The events of one subscription: changes, and the notifications that extensions add.
pub(super) struct SubscriptionEvents {
    pub(super) queue: Arc<ChangeQueue>,
    pub(super) added: ExtensionEvents,
}

/// An event of a subscription.
pub(super) enum Event {
    Change(Change),
    Extension(UnknownMethod),
}

impl SubscriptionEvents {
    /// Returns the next event; `None` when the subscription ends.
    pub(super) async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| {
            if let Poll::Ready(change) = self.queue.poll_next(context) {
                return Poll::Ready(change.and_then(Result::ok).map(Event::Change));
            }
            match self.added.poll_next(context) {
                Poll::Ready(Some(notification)) => Poll::Ready(Some(Event::Extension(notification))),
                Poll::Ready(None) | Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

/// Adds the id of the subscription's request to a notification, if the revision requires that.
pub(super) fn tagged(json: Vec<u8>, negotiated: &Negotiated, request: Option<&RequestId>) -> Option<Vec<u8>> {
    let Some((id, key)) = request.zip(negotiated.revision.lifecycle().meta_subscription) else {
        return Some(json);
    };
    with_meta(json, &[(key, RawJson::from_encode(id).ok()?.text())]).ok()
}
