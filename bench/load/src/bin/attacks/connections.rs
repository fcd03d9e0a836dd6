//! Attacks with raw connections, which no HTTP client would make.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use mcp_load::{Http, Program};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::PATIENCE;
use crate::outcome::Outcome;

pub async fn slow_headers(program: &Program) -> Result<Outcome> {
    const COUNT: usize = 200;
    let (child, _input, url) = program.http("http").await?;
    let begun = Instant::now();
    let mut connections = Vec::new();
    for _ in 0..COUNT {
        let mut connection = TcpStream::connect(address(&url)?).await?;
        connection.write_all(b"POST /mcp HTTP/1.1\r\nx: ").await?;
        connections.push(connection);
    }
    for _ in 0..8 {
        sleep(Duration::from_secs(5)).await;
        for connection in &mut connections {
            // The server may have closed the connection, which the read below detects.
            let _ = connection.write_all(b"x").await;
        }
    }
    let mut open = 0;
    for connection in &mut connections {
        let mut rest = Vec::new();
        open += usize::from(
            timeout(Duration::from_millis(20), connection.read_to_end(&mut rest))
                .await
                .is_err(),
        );
    }
    Outcome::of(&child, begun.elapsed(), format!("{open} of {COUNT} open"))
}

/// Sends the request of an image in a web page: it names its origin site, and has no header that a page couldn't cause.
pub async fn sse_page(program: &Program) -> Result<Outcome> {
    let (child, _input, url) = program.http("http").await?;
    let begun = Instant::now();
    let mut connection = TcpStream::connect(address(&url)?).await?;
    let request = "GET /sse HTTP/1.1\r\nhost: localhost\r\naccept: image/avif,image/webp,*/*;q=0.8\r\n\
                   sec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\nsec-fetch-dest: image\r\n\r\n";
    connection.write_all(request.as_bytes()).await?;
    let mut head = vec![0; 256];
    let read = timeout(PATIENCE, connection.read(&mut head))
        .await
        .context("no response")??;
    head.truncate(read);
    let head = String::from_utf8_lossy(&head);
    Outcome::of(&child, begun.elapsed(), head.lines().next().unwrap_or_default())
}

/// Posts a message on a separate connection, and doesn't read the response.
pub async fn post_unread(http: &Http, message: &str) -> Result<TcpStream> {
    let socket = tokio::net::TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    let mut connection = socket.connect(address(&http.url)?.parse()?).await?;
    let session = http.session.as_deref().unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-session-id: {session}\r\ncontent-length: {}\r\n\r\n",
        message.len()
    );
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(message.as_bytes()).await?;
    Ok(connection)
}

/// Returns the address in a URL.
fn address(url: &str) -> Result<String> {
    let rest = url.strip_prefix("http://").context("not an HTTP URL")?;
    Ok(rest.split('/').next().unwrap_or_default().to_owned())
}
