//! The lists of the peer, whose pages are fetched one after the other.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use mcp_adapters::handlers::Paginated;

use super::peer::Peer;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::side::Side;

type Page<T> = Result<(Vec<T>, Option<String>), CallError>;

impl<S: Side> Peer<S> {
    /// The items of one of the peer's lists, such as `peer.list::<hub::Tool>()`. A page is requested when the one before
    /// it has been read. The stream ends with the list, or with the first error.
    ///
    /// [`CallError::InvalidResult`] is the error when a cursor repeats, or when the list has more pages than
    /// [`Limits::pages`](crate::Limits::pages).
    pub fn list<T>(&self) -> impl Stream<Item = Result<T, CallError>> + Send + Unpin + use<S, T>
    where
        T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static,
    {
        Items::new(self.clone())
    }

    /// All items of one of the peer's lists, such as `peer.list_all::<hub::Tool>()`.
    ///
    /// # Errors
    /// The first of [`Self::list`].
    pub async fn list_all<T>(&self) -> Result<Vec<T>, CallError>
    where
        T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static,
    {
        let (mut items, mut all) = (self.list(), Vec::new());
        while let Some(item) = std::future::poll_fn(|context| Pin::new(&mut items).poll_next(context)).await {
            all.push(item?);
        }
        Ok(all)
    }
}

/// The items of a list.
struct Items<S: Side, T> {
    peer: Peer<S>,
    ready: std::vec::IntoIter<T>,
    next: Next<T>,
    /// The cursors so far, to detect one that repeats.
    seen: HashSet<String>,
}

enum Next<T> {
    /// The page at this cursor is to be requested.
    Cursor(Option<String>),
    Requested(BoxFuture<'static, Page<T>>),
    Failed(CallError),
    End,
}

impl<S: Side, T> Items<S, T> {
    fn new(peer: Peer<S>) -> Self {
        Self {
            peer,
            ready: Vec::new().into_iter(),
            next: Next::Cursor(None),
            seen: HashSet::new(),
        }
    }

    /// What follows a page with this next cursor.
    fn after(&mut self, cursor: Option<String>) -> Next<T> {
        let Some(cursor) = cursor else { return Next::End };
        let reason = if self.seen.len() + 1 >= self.peer.state.options.limits.pages {
            "the list has too many pages".to_owned()
        } else if self.seen.insert(cursor.clone()) {
            return Next::Cursor(Some(cursor));
        } else {
            format!("the list comes back to the cursor {cursor:?}")
        };
        Next::Failed(CallError::InvalidResult(reason))
    }
}

async fn request<S: Side, T: Paginated<S::RequestOut, S::ResultIn>>(peer: Peer<S>, cursor: Option<String>) -> Page<T> {
    Ok(T::items(peer.call(T::page(cursor)).await?)?)
}

// Only the future is pinned, and it is on the heap.
impl<S: Side, T> Unpin for Items<S, T> {}

impl<S: Side, T: Paginated<S::RequestOut, S::ResultIn> + Send + 'static> Stream for Items<S, T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.ready.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match std::mem::replace(&mut self.next, Next::End) {
                Next::End => return Poll::Ready(None),
                Next::Failed(error) => return Poll::Ready(Some(Err(error))),
                Next::Cursor(cursor) => self.next = Next::Requested(Box::pin(request(self.peer.clone(), cursor))),
                Next::Requested(mut page) => match page.as_mut().poll(context) {
                    Poll::Pending => {
                        self.next = Next::Requested(page);
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
