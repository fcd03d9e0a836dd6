//! Decodes a message from standard input with rmcp's types.

use rmcp::model::ClientJsonRpcMessage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let message: ClientJsonRpcMessage = serde_json::from_str(&text)?;
    println!("{message:?}");
    Ok(())
}
