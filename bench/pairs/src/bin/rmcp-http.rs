//! A server with rmcp in an axum app, whose layer identifies the user.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use rmcp::handler::server::common::Extension;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};

#[derive(Clone)]
struct User(String);

#[derive(Clone)]
struct Users;

#[tool_router]
impl Users {
    #[tool(description = "Says who calls")]
    fn user(&self, Extension(request): Extension<Parts>) -> Result<String, String> {
        let user = request.extensions.get::<User>().ok_or("nobody calls")?;
        Ok(user.0.clone())
    }
}

#[tool_handler(name = "users", version = "1.0")]
impl ServerHandler for Users {}

async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let header = request
        .headers()
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let name = header
        .and_then(|value| value.strip_prefix("Bearer "))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    let user = User(name.to_owned());
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Users), sessions, StreamableHttpServerConfig::default());
    let app = axum::Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn(authenticate));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, app).await
}
