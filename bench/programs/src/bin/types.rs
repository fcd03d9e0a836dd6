//! Decodes a message from standard input with the types of one revision.

use mcp_types_2026_07_28::ClientMessage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::io::read_to_string(std::io::stdin())?;
    let message: ClientMessage = mcp_wire::from_str(&text)?;
    println!("{message:?}");
    Ok(())
}
