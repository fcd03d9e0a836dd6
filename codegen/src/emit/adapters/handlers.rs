//! Emits the traits of handlers and callers, with a function for each method of the hub.

use serde_json::json;

use super::input::AdaptersInput;
use super::side::Side;
use crate::emit::names::{import, library_name, mentions};
use crate::emit::scaffold::formatted;
use crate::emit::source;
use crate::error::EmitError;
use crate::templates::render;

const TITLE: &str = "\
//! The handlers and the typed calls of servers and clients, in the types of the hub.
//!
//! Implement [`ServerHandler`] or [`ClientHandler`] to handle messages. A request whose method isn't implemented is answered
//! with the error -32601, and such a notification is ignored. Implement [`CallServer`] or [`CallClient`] to get a typed method for
//! each message that can be sent.
";

/// Emits the file with the traits of both sides.
pub(super) fn handlers(input: &AdaptersInput<'_>, header: &str) -> Result<String, EmitError> {
    let rendered = |used: &str| -> Result<String, EmitError> {
        let sides = [("Server", "Client"), ("Client", "Server")];
        let values = json!({
            "library": library_name(&input.manifest().family().adapters_crate()),
            "sides": sides.map(|(side, other)| Side::values(input, side, other)),
            "unexpected": mentions(used, "unexpected"),
            "not_found": mentions(used, "not_found"),
            "undeclared": mentions(used, "undeclared_kind"),
            "paginated": mentions(used, "Paginated"),
            "messages": Vec::from_iter(input.hub().methods.iter().map(|method| &method.ty)),
        });
        render("adapters/bodies/handlers.rs", values)
    };
    // Functions that both sides share are only emitted if a side calls them.
    let code = formatted("handlers.rs", &rendered(&rendered("")?)?)?;
    let wire = ["ErrorObject", "RawJson", "UnknownMethod", "error_code"];
    let imports = [
        import(&code, "std::future", &["Future"]),
        import(&code, "mcp_wire", &wire),
        import(&code, "crate", &["hub"]),
    ];
    Ok(source::file(header, [TITLE.to_owned(), imports.concat(), code]))
}
