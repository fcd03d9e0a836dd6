//! A client requests an invoice from the server.

use invoices::server;
use mcp_ext_billing::{EXTENSION, GetInvoiceResult, Invoice, InvoiceStatus};
use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, Client, Options};
use serde_json::json;

#[tokio::test]
async fn a_client_gets_an_invoice_only_if_it_declares_the_extension() {
    let (theirs, ours) = channel(8);
    let _session = server().serve(Options::default(), theirs);
    let client = Client::new("till", "1.0").extension(&EXTENSION);
    let session = client.connect(ours).await.unwrap();
    let peer = session.peer();
    let result: GetInvoiceResult = peer
        .call_method("billing/invoice", json!({"id": "2026-1"}))
        .await
        .unwrap();
    assert_eq!(result.invoice, Invoice::new(1250, "2026-1", InvoiceStatus::Open));
    let refused = peer.call_method::<GetInvoiceResult>("billing/invoice", json!({})).await;
    assert!(matches!(refused, Err(CallError::Peer(error)) if error.message.contains("id")));

    let (theirs, ours) = channel(8);
    let _session = server().serve(Options::default(), theirs);
    let session = Client::new("old", "1.0").connect(ours).await.unwrap();
    let refused = session
        .peer()
        .call_method::<GetInvoiceResult>("billing/invoice", json!({"id": "2026-1"}))
        .await;
    assert!(matches!(refused, Err(CallError::Peer(error)) if error.code == -32021));
}
