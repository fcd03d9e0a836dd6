//! Lists of the peer, page after page.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_adapters::handlers::Paginated;

use crate::error::CallError;
use crate::peer::Peer;
use crate::session::Boxed;
use crate::side::Side;

type Page<T> = Result<(Vec<T>, Option<String>), CallError>;

/// The items of a list. A page is asked for when the one before has been read.
pub struct Items<S: Side, T> {
    peer: Peer<S>,
    ready: std::vec::IntoIter<T>,
    next: Next<T>,
    /// Where pages began, so that a peer that goes round in circles is found out.
    seen: HashSet<String>,
}

enum Next<T> {
    At(Option<String>),
    Asked(Boxed<'static, Page<T>>),
    Failed(CallError),
    Nothing,
}

impl<S: Side, T> Items<S, T> {
    pub fn new(peer: Peer<S>) -> Self {
        Self {
            peer,
            ready: Vec::new().into_iter(),
            next: Next::At(None),
            seen: HashSet::new(),
        }
    }

    /// What comes after a page that ends with `cursor`.
    fn after(&mut self, cursor: Option<String>) -> Next<T> {
        let Some(cursor) = cursor else { return Next::Nothing };
        let reason = if self.seen.len() + 1 >= self.peer.shared.options.limits.pages {
            "the list has too many pages".to_owned()
        } else if self.seen.insert(cursor.clone()) {
            return Next::At(Some(cursor));
        } else {
            format!("the list comes back to the cursor {cursor:?}")
        };
        Next::Failed(CallError::InvalidResult(reason))
    }
}

async fn ask<S: Side, T: Paginated<S::RequestOut, S::ResultIn>>(peer: Peer<S>, cursor: Option<String>) -> Page<T> {
    Ok(T::items(peer.call(T::page(cursor)).await?)?)
}

// Nothing in it is pinned but the future, which is on the heap.
impl<S: Side, T> Unpin for Items<S, T> {}

impl<S: Side, T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static> Stream for Items<S, T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.ready.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match std::mem::replace(&mut self.next, Next::Nothing) {
                Next::Nothing => return Poll::Ready(None),
                Next::Failed(error) => return Poll::Ready(Some(Err(error))),
                Next::At(cursor) => self.next = Next::Asked(Box::pin(ask(self.peer.clone(), cursor))),
                Next::Asked(mut asked) => match asked.as_mut().poll(context) {
                    Poll::Pending => {
                        self.next = Next::Asked(asked);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok((items, cursor))) => {
                        self.ready = items.into_iter();
                        self.next = self.after(cursor);
                    }
                    Poll::Ready(Err(error)) => self.next = Next::Failed(error),
                },
            }
        }
    }
}
