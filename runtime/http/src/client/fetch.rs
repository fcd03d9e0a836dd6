//! The `fetch` of browsers, Node and workers.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Response};
use http_body::{Body, Frame};
use js_sys::{Reflect, Uint8Array};
use send_wrapper::SendWrapper;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, ReadableStreamDefaultReader, RequestInit, WorkerGlobalScope};

use super::caller::HttpCaller;
use super::error::HttpError;

impl HttpCaller {
    /// Creates a caller of the server at this URL that uses `fetch`. Nothing is sent yet.
    ///
    /// To add headers, such as a token, use [`Self::new`] with a function that adds them and calls [`fetch`].
    ///
    /// # Errors
    /// When it isn't an HTTP or HTTPS URL.
    pub fn fetch(url: &str) -> Result<Self, HttpError> {
        Self::new(url, fetch)
    }
}

/// An error of `fetch`, with JavaScript's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(String);

impl From<JsValue> for FetchError {
    fn from(error: JsValue) -> Self {
        let cause = error.dyn_ref().map(js_sys::Error::cause);
        let cause = cause.filter(|cause| !cause.is_undefined());
        Self(match cause {
            Some(cause) => format!("{}: {}", text(&error), text(&cause)),
            None => text(&error),
        })
    }
}

/// The text of an error, as JavaScript would print it.
fn text(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.to_string().into(),
        None => format!("{error:?}"),
    }
}

/// Sends an HTTP request by the `fetch` of the global scope, which follows redirects. Dropping the future, or the body
/// of the response, aborts the request.
///
/// Both belong to the thread in which they were created, like all values of JavaScript, and panic in another one.
///
/// # Errors
/// When the request can't be sent, or the server can't be reached.
pub fn fetch(
    request: Request<Vec<u8>>,
) -> impl Future<Output = Result<Response<FetchBody>, FetchError>> + Send + 'static {
    SendWrapper::new(send(request))
}

async fn send(request: Request<Vec<u8>>) -> Result<Response<FetchBody>, FetchError> {
    let (parts, body) = request.into_parts();
    let headers = Headers::new()?;
    for (name, value) in &parts.headers {
        // In JavaScript, each byte of a header is a character.
        let value: String = value.as_bytes().iter().map(|byte| char::from(*byte)).collect();
        headers.append(name.as_str(), &value)?;
    }
    let abort = Abort(AbortController::new()?);
    let init = RequestInit::new();
    init.set_method(parts.method.as_str());
    init.set_headers(&headers);
    // `fetch` refuses a GET request with a body.
    if !body.is_empty() {
        init.set_body(&Uint8Array::from(body.as_slice()));
    }
    init.set_signal(Some(&abort.0.signal()));
    // This type is that of workers, but every global scope has the `fetch` function.
    let scope: WorkerGlobalScope = js_sys::global().unchecked_into();
    let fetched = JsFuture::from(scope.fetch_with_str_and_init(&parts.uri.to_string(), &init)).await?;
    let fetched: web_sys::Response = fetched.unchecked_into();

    let reader = fetched.body().map(|stream| stream.get_reader().unchecked_into());
    let mut response = Response::new(FetchBody(SendWrapper::new(Reading {
        reader,
        next: None,
        _abort: abort,
    })));
    *response.status_mut() = fetched
        .status()
        .try_into()
        .map_err(|error| FetchError(format!("{error}")))?;
    for entry in fetched.headers().entries() {
        let entry = js_sys::Array::from(&entry?);
        let (name, value) = (entry.get(0).as_string(), entry.get(1).as_string());
        let name = name.and_then(|name| HeaderName::try_from(name).ok());
        let value = value.and_then(|value| HeaderValue::try_from(value).ok());
        response.headers_mut().extend(name.zip(value));
    }
    Ok(response)
}

/// Aborts a request when it is dropped. That has no effect on a finished request.
struct Abort(AbortController);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The body of a response of [`fetch`]. Dropping it aborts the request.
#[derive(Debug)]
pub struct FetchBody(SendWrapper<Reading>);

/// A body while it is read.
struct Reading {
    reader: Option<ReadableStreamDefaultReader>,
    next: Option<JsFuture>,
    _abort: Abort,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").finish_non_exhaustive()
    }
}

impl Body for FetchBody {
    type Data = Bytes;
    type Error = FetchError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FetchError>>> {
        let reading = &mut *self.0;
        let Some(reader) = &reading.reader else {
            return Poll::Ready(None);
        };
        let next = reading.next.get_or_insert_with(|| JsFuture::from(reader.read()));
        let read = ready!(Pin::new(next).poll(context));
        reading.next = None;
        // The object has `done`, and `value` until that is true.
        let value = read.and_then(|read| Reflect::get(&read, &JsValue::from_str("value")));
        Poll::Ready(match value {
            Ok(value) => value
                .dyn_ref()
                .map(|part: &Uint8Array| Ok(Frame::data(part.to_vec().into()))),
            Err(error) => Some(Err(error.into())),
        })
    }
}
