//! Serves on a local port, and prints its URL.

use mcp_runtime::transport::http::server::{HttpServer, serve};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    serve(listener, HttpServer::new(web::server::router())).await;
    Ok(())
}
