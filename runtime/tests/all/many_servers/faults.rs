//! Servers of a gateway that change while they are asked.

use mcp_runtime::gateway::Gateway;
use mcp_runtime::transport::channel;
use mcp_runtime::{CallServer, Client, ClientSession, Options, Router, hub};

use crate::many_servers::{Local, REVISIONS, speaking};

async fn connect(gateway: &Gateway, options: Options) -> ClientSession {
    let (server, transport) = channel(16);
    gateway.serve(server);
    let client = Client::new("app", "1.0").options(options);
    client.connect(transport).await.expect("the gateway serves")
}

#[tokio::test]
async fn pages_follow_each_other_though_the_list_changes() {
    for revision in REVISIONS {
        let mut router = Router::new("letters", "1.0");
        for name in ["a", "b", "c", "d"] {
            router = router.tool(name, "A letter", move || name);
        }
        let server = Local::new(revision, router.clone());
        let gateway = Gateway::new("tools", "1.0").page_size(2).server("x", server);
        let session = connect(&gateway, speaking(revision)).await;
        let page = async |cursor: Option<String>| {
            let params = hub::PaginatedRequestParams {
                cursor,
                ..Default::default()
            };
            let page = session.peer().list_tools(params).await.unwrap();
            let names: Vec<_> = page.tools.into_iter().map(|tool| tool.name).collect();
            (names, page.next_cursor)
        };
        let (first, next) = page(None).await;
        assert_eq!(first, ["x_a", "x_b"]);
        router.remove_tool("a");
        router.remove_tool("b");
        let (second, next) = page(next).await;
        assert_eq!(
            (second, next),
            (vec!["x_c".to_owned(), "x_d".to_owned()], None),
            "{revision}"
        );
        let params = hub::PaginatedRequestParams::default().with_cursor("2");
        let refused = session.peer().list_tools(params).await.unwrap_err().to_string();
        assert!(refused.contains("Invalid cursor"), "{refused}");
    }
}
