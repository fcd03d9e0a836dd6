//! A server with the vendor's extension. Its requests and results use the types of the extension's crate.

use mcp_ext_billing::{
    BillingExtensionCapability, EXTENSION, GetInvoiceRequestParams, GetInvoiceResult, Invoice, InvoiceStatus,
};
use mcp_runtime::mcp_wire::{Extension, RawJson, RawObject, error_code, from_str};
use mcp_runtime::router::{Call, ServerExtension};
use mcp_runtime::{ErrorObject, Router};
use serde_json::Value;

/// The server's implementation of the extension.
#[derive(Clone)]
struct Billing;

impl ServerExtension for Billing {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    fn settings(&self) -> RawObject {
        let settings = BillingExtensionCapability::default().with_currency("CHF");
        let json = RawJson::from_encode(&settings).expect("it has no number that JSON can't represent");
        json.decode_as().expect("it is an object")
    }

    async fn answer(&self, _: &'static str, params: Value, _: Call) -> Result<RawJson, ErrorObject> {
        let params: GetInvoiceRequestParams = from_str(&params.to_string())
            .map_err(|error| ErrorObject::new(error_code::INVALID_PARAMS, error.to_string()))?;
        let result = GetInvoiceResult::new(Invoice::new(1250, params.id, InvoiceStatus::Open));
        RawJson::from_encode(&result).map_err(|error| ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string()))
    }
}

/// Returns the server.
pub fn server() -> Router {
    Router::new("shop", "1.0").extension(Billing)
}
