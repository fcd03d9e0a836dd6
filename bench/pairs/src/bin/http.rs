//! A server with `mcp-runtime` in an axum app, whose layer identifies the user.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp_runtime::Router;
use mcp_runtime::router::Extension;
use mcp_runtime::transport::http::server::{HttpServer, serve};

#[derive(Clone)]
struct User(String);

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
    let tools = Router::new("users", "1.0").tool("user", "Says who calls", |Extension(User(name))| name);
    let app = HttpServer::new(tools).app();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, app.layer(from_fn(authenticate))).await;
    Ok(())
}
