//! A server within an axum app: the app and the tools share state, and a layer authenticates the users of both. The app
//! listens on a local port that it prints, and stops when its standard input ends.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Request, State as AppState};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use mcp_runtime::router::Extension;
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Args, Router, State};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// The messages on the board.
type Board = Arc<Mutex<Vec<String>>>;

#[derive(Clone)]
struct User(String);

#[derive(Deserialize, JsonSchema)]
struct Message {
    text: String,
}

/// A tool that takes the state of the app, and the user that the layer has authenticated.
fn post(State(board): State<Board>, Extension(User(name)): Extension<User>, Args(message): Args<Message>) -> usize {
    let mut board = board.lock().unwrap_or_else(PoisonError::into_inner);
    board.push(format!("{name}: {}", message.text));
    board.len()
}

/// A page of the app.
async fn show(AppState(board): AppState<Board>) -> String {
    board.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
}

/// Uses the token as the user's name. A real app would look up or verify the token.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let token = request
        .headers()
        .get("authorization")
        .and_then(|value| value.to_str().ok());
    let name = token
        .and_then(|token| token.strip_prefix("Bearer "))
        .ok_or(StatusCode::UNAUTHORIZED)?;
    let user = User(name.to_owned());
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let board = Board::default();
    let tools = Router::new("board", "1.0").with_state(Arc::clone(&board)).tool(
        "post",
        "Posts a message, and returns the number of messages",
        post,
    );
    let shutdown = CancellationToken::new();
    let user_of = |request: &Parts| Some(request.extensions.get::<User>()?.0.clone());
    let server = HttpServer::new(tools).principal(user_of).shutdown(shutdown.clone());
    let app = server
        .app()
        .merge(axum::Router::new().route("/board", get(show)).with_state(board))
        .layer(from_fn(authenticate));

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let stop = shutdown.clone();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        stop.cancel();
    });
    serve(listener, app).shutdown(shutdown).await;
    Ok(())
}
