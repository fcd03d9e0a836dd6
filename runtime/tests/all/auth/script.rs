//! Local HTTP servers that answer as a test specifies, and record their requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::net::TcpListener;
use url::Url;

/// A recorded request.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: String,
}

impl Seen {
    /// A parameter of the query.
    pub fn query(&self, name: &str) -> Option<String> {
        let mut pairs = self.url.query_pairs();
        pairs.find(|(its, _)| its == name).map(|(_, value)| value.into_owned())
    }

    /// A parameter of the form.
    pub fn form(&self, name: &str) -> Option<String> {
        let mut pairs = url::form_urlencoded::parse(self.body.as_bytes());
        pairs.find(|(its, _)| its == name).map(|(_, value)| value.into_owned())
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// The reaction of a handler to a request.
pub enum Reply {
    Response(Response),
    /// The application answers.
    Next,
    /// No response is sent.
    Never,
}

pub fn json(value: Value) -> Reply {
    Reply::Response(axum::Json(value).into_response())
}

pub fn status(status: u16) -> Reply {
    Reply::Response(StatusCode::from_u16(status).unwrap().into_response())
}

pub fn with_headers(status: u16, headers: &[(&'static str, String)]) -> Reply {
    let mut response = StatusCode::from_u16(status).unwrap().into_response();
    for (name, value) in headers {
        response.headers_mut().append(*name, value.parse().unwrap());
    }
    Reply::Response(response)
}

pub fn redirect(to: &str) -> Reply {
    with_headers(307, &[("location", to.to_owned())])
}

type Handler = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

/// A server; it ends with the test.
#[derive(Clone)]
pub struct Server {
    pub url: String,
    state: Arc<Shared>,
}

struct Shared {
    base: Url,
    handlers: Mutex<HashMap<String, Handler>>,
    seen: Mutex<Vec<Seen>>,
}

impl Server {
    /// A server that answers 404 to requests without a handler.
    pub async fn start() -> Self {
        Self::with(Router::new()).await
    }

    /// A server in front of an application.
    pub async fn with(app: Router) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Shared {
            base: Url::parse(&url).unwrap(),
            handlers: Mutex::default(),
            seen: Mutex::default(),
        });
        let app = app.fallback(async || StatusCode::NOT_FOUND);
        let app = app.layer(from_fn_with_state(state.clone(), play));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, state }
    }

    /// Sets the handler of requests with this method and path.
    pub fn on(&self, what: &str, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) {
        self.state
            .handlers
            .lock()
            .unwrap()
            .insert(what.to_owned(), Arc::new(handler));
    }

    /// Serves a JSON document.
    pub fn document(&self, path: &str, document: Value) {
        self.on(&format!("GET {path}"), move |_| json(document.clone()));
    }

    /// The recorded requests with this method and path, or all if `what` is empty.
    pub fn seen(&self, what: &str) -> Vec<Seen> {
        let seen = self.state.seen.lock().unwrap();
        let is_it = |it: &&Seen| what.is_empty() || format!("{} {}", it.method, it.url.path()) == what;
        seen.iter().filter(is_it).cloned().collect()
    }
}

async fn play(State(state): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let seen = Seen {
        method: parts.method.to_string(),
        url: state.base.join(&parts.uri.to_string()).unwrap(),
        headers: parts.headers.clone(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let what = format!("{} {}", seen.method, seen.url.path());
    state.seen.lock().unwrap().push(seen.clone());
    let handler = state.handlers.lock().unwrap().get(&what).cloned();
    match handler.map_or(Reply::Next, |handler| handler(&seen)) {
        Reply::Response(response) => response,
        Reply::Next => next.run(Request::from_parts(parts, Body::from(body))).await,
        Reply::Never => std::future::pending().await,
    }
}
