//! The body of a response, whatever has received it.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};

use super::error::{BoxError, HttpError};

/// A response whose body is read in parts.
pub(super) type Response = http::Response<Body>;

/// The body of a response.
pub(super) struct Body(Pin<Box<dyn Chunks>>);

impl Body {
    pub(super) fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Error: Into<BoxError>> + Send + 'static,
    {
        Self(Box::pin(body))
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// When the body is cut.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        poll_fn(|context| self.0.as_mut().poll_chunk(context)).await.transpose()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

/// What a body has to offer.
trait Chunks: Send {
    fn poll_chunk(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>>;
}

impl<B: http_body::Body<Error: Into<BoxError>> + Send> Chunks for B {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        loop {
            match ready!(self.as_mut().poll_frame(context)) {
                // Whatever isn't data is of no interest here.
                Some(Ok(frame)) => {
                    if let Ok(mut data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data.copy_to_bytes(data.remaining()))));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(HttpError::cut(error.into())))),
                None => return Poll::Ready(None),
            }
        }
    }
}
