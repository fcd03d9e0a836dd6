//! The actix-web app, on a local port.

use actix_web::{App, HttpServer as ActixServer};
use frameworks::actix::routes;
use frameworks::weather;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{Client, Options, Revision, hub};
use serde_json::json;

#[actix_web::test]
async fn clients_of_every_revision_call_a_tool() {
    let server = HttpServer::new(weather());
    let app = move || App::new().configure(routes(server.clone()));
    let app = ActixServer::new(app).workers(1).bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/mcp", app.addrs()[0]);
    let running = app.run();
    let handle = running.handle();
    let serving = actix_web::rt::spawn(running);
    for revision in Revision::all() {
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let session = Client::new("test", "1.0")
            .options(options)
            .connect(transport)
            .await
            .unwrap();
        let result = session.call_tool("weather", json!({})).await.unwrap();
        let [hub::ContentBlock::Text(text)] = &result.content[..] else {
            panic!("{result:?}");
        };
        assert_eq!(
            (text.text.as_str(), session.peer().revision()),
            ("sunny", Some(revision))
        );
        session.close().await;
    }
    handle.stop(false).await;
    serving.await.unwrap().unwrap();
}
