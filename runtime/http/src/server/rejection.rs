//! The response to a refused request.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, RequestId, error_code};
use mcp_adapters::{ErrorRole, PeerTypes, Revision};

use super::body::Body;
use super::store::StoreError;
use crate::guard::Refusal;

/// An HTTP status and a JSON-RPC error.
#[derive(Debug)]
pub(crate) struct Rejection {
    status: StatusCode,
    /// The id of the request, if it could be decoded.
    id: Option<RequestId>,
    error: ErrorObject,
    /// Additional headers of the response.
    headers: Option<Box<HeaderMap>>,
}

impl Rejection {
    pub(crate) fn new(status: StatusCode, code: i64, message: impl Into<String>) -> Self {
        Self {
            status,
            id: None,
            error: ErrorObject::new(code, message),
            headers: None,
        }
    }

    /// The rejection of a request with a header that doesn't match the body.
    pub(crate) fn header_mismatch(revision: Revision, why: String) -> Self {
        let known = revision.known_error(ErrorRole::HeaderMismatch);
        let code = known.map_or(error_code::INVALID_REQUEST, |known| known.code);
        Self::new(
            error_status(revision, code).unwrap_or(StatusCode::BAD_REQUEST),
            code,
            why,
        )
    }

    /// The same rejection with the id of the request, if it has none yet: some clients need it.
    pub(crate) fn with_id(self, id: Option<RequestId>) -> Self {
        let id = self.id.or(id);
        Self { id, ..self }
    }

    /// An invalid request.
    pub(crate) fn invalid(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, error_code::INVALID_REQUEST, message)
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::invalid(StatusCode::BAD_REQUEST, message)
    }

    pub(crate) fn no_such_session() -> Self {
        Self::invalid(StatusCode::NOT_FOUND, "Session not found")
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error_code::INTERNAL_ERROR, message)
    }

    pub(crate) fn shutting_down() -> Self {
        Self::busy("The server is shutting down")
    }

    pub(crate) fn store_failed(error: StoreError) -> Self {
        tracing::error!(error, "the session store failed");
        Self::busy("The session store doesn't answer")
    }

    pub(crate) fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            error_code::INTERNAL_ERROR,
            "Internal error",
        )
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        tracing::debug!(status = %self.status, why = self.error.message, "a request is refused");
        let body = serde_json::to_vec(&ErrorResponse::new(self.id, self.error)).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let content_type = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, content_type);
        if let Some(headers) = self.headers {
            response.headers_mut().extend(*headers);
        }
        response
    }
}

/// The status of a response with an error of this code, unless it is 200.
pub(crate) fn error_status(revision: Revision, code: i64) -> Option<StatusCode> {
    StatusCode::from_u16(revision.facts().status(code)?).ok()
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.status.is_server_error() {
            true => error_code::INTERNAL_ERROR,
            false => error_code::INVALID_REQUEST,
        };
        Self {
            headers: Some(refusal.headers),
            ..Self::new(refusal.status, code, refusal.message)
        }
    }
}
