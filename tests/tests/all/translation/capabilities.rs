//! Capabilities that only some revisions declare.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use serde_json::{Value, json};

use super::{AUTOMATIC, becomes, is_carried, stays};

#[test]
fn the_completions_capability_is_dropped_for_2024_11_05_and_not_added_on_upgrade() {
    let before = json!({"capabilities": {"completions": {}, "tools": {}}, "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "s", "version": "1"}});
    let after = json!({"capabilities": {"tools": {}}, "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "s", "version": "1"}});
    becomes(
        (V2025_11_25, V2024_11_05),
        "InitializeResult",
        &before,
        &after,
        &[["capabilities.completions", "dropped", AUTOMATIC]],
    );
    stays((V2025_03_26, V2025_11_25), "InitializeResult", &before);
    stays((V2024_11_05, V2025_03_26), "InitializeResult", &after);
}

#[test]
fn the_elicitation_capability_is_dropped_for_2025_06_18_if_it_supports_only_urls() {
    let rule = "2025-11-25 ClientCapabilities.elicitation";
    let capabilities = |elicitation: Value| json!({"elicitation": elicitation});
    stays(
        (V2025_06_18, V2025_11_25),
        "ClientCapabilities",
        &capabilities(json!({})),
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}})),
        &capabilities(json!({})),
        &[["elicitation.form", "dropped", rule]],
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}, "url": {}})),
        &capabilities(json!({})),
        &[
            ["elicitation.form", "dropped", rule],
            ["elicitation.url", "dropped", rule],
        ],
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"url": {}})),
        &json!({}),
        &[["elicitation", "dropped", rule]],
    );
    becomes(
        (V2025_11_25, V2024_11_05),
        "ClientCapabilities",
        &capabilities(json!({})),
        &json!({}),
        &[["elicitation", "dropped", AUTOMATIC]],
    );
    is_carried(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}, "url": {}})),
    );
    is_carried(
        (V2025_11_25, V2024_11_05),
        "ClientCapabilities",
        &capabilities(json!({"url": {}})),
    );
}
