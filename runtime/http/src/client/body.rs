//! The body of a response, independent of the HTTP library.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};

use super::error::HttpError;

/// A response whose body is read in parts.
pub(super) type Response = http::Response<Body>;

/// The body of a response.
pub(super) struct Body(Box<dyn Chunks>);

impl Body {
    /// Erases the type of a body. `cut` converts the error of a body that breaks off.
    pub(super) fn new<B: http_body::Body + Send + 'static>(body: B, cut: fn(B::Error) -> HttpError) -> Self {
        let body = Box::pin(body);
        Self(Box::new(Cut { body, cut }))
    }

    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// When the body breaks off.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        poll_fn(|context| self.0.poll_chunk(context)).await.transpose()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

/// A body, and the function that converts its error.
struct Cut<B: http_body::Body> {
    body: Pin<Box<B>>,
    cut: fn(B::Error) -> HttpError,
}

/// A body whose type is erased.
trait Chunks: Send {
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>>;
}

impl<B: http_body::Body + Send> Chunks for Cut<B> {
    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, HttpError>>> {
        loop {
            match ready!(self.body.as_mut().poll_frame(context)) {
                // Frames other than data, such as trailers, are ignored.
                Some(Ok(frame)) => {
                    if let Ok(mut data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data.copy_to_bytes(data.remaining()))));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err((self.cut)(error)))),
                None => return Poll::Ready(None),
            }
        }
    }
}
