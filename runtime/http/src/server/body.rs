//! The body of a response.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Frame, SizeHint};

/// The body of a response: one JSON value, a stream of events, or nothing.
#[derive(Default)]
pub struct Body(Content);

#[derive(Default)]
enum Content {
    #[default]
    Empty,
    Whole(Bytes),
    Stream(Pin<Box<dyn Stream<Item = Bytes> + Send>>),
}

impl Body {
    pub(crate) fn stream(stream: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(Content::Stream(Box::pin(stream)))
    }

    /// The whole body, unless it is a stream.
    pub(crate) fn whole(self) -> Option<Bytes> {
        match self.0 {
            Content::Empty => Some(Bytes::new()),
            Content::Whole(bytes) => Some(bytes),
            Content::Stream(_) => None,
        }
    }
}

impl<B: Into<Bytes>> From<B> for Body {
    fn from(bytes: B) -> Self {
        Self(Content::Whole(bytes.into()))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Content::Empty => Poll::Ready(None),
            Content::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.0 = Content::Empty;
                Poll::Ready(Some(bytes))
            }
            Content::Stream(stream) => stream.as_mut().poll_next(cx),
        };
        next.map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Content::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Empty => SizeHint::with_exact(0),
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Content::Empty => "Body(empty)",
            Content::Whole(_) => "Body(whole)",
            Content::Stream(_) => "Body(stream)",
        })
    }
}
