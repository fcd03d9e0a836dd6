//! Decodes, or translates and decodes, one result once. It is run under callgrind, which counts the instructions of
//! `measured`.

use mcp_bench::{Failure, Hop, Way};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |at: usize, name: &str| arguments.get(at).is_some_and(|argument| argument == name);
    let case = Hop::CASES.into_iter().find(|case| named(0, case.name()));
    let way = Way::ALL.into_iter().find(|way| named(1, way.name()));
    let translates = match arguments.get(2).map(String::as_str) {
        Some("decode") => Some(false),
        Some("translate") => Some(true),
        _ => None,
    };
    let (Some(case), Some(way), Some(translates)) = (case, way, translates) else {
        let (cases, ways) = (Hop::CASES.map(|case| case.name()), Way::ALL.map(Way::name));
        return Err(format!("name one of {cases:?}, one of {ways:?}, and `decode` or `translate`").into());
    };
    let hop = Hop::new(case, way)?;
    match translates {
        true => measured(|| hop.translate()),
        false => measured(|| hop.decode()),
    }
    Ok(())
}

#[inline(never)]
fn measured(action: impl Fn()) {
    action();
}
