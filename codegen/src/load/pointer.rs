//! JSON pointers in fragment form: `#`, `#/$defs/Tool`, `#/properties/a~1b`.

/// The pointer one step below `pointer`.
///
/// ```
/// assert_eq!(mcp_codegen::load::pointer::join("#/$defs", "a/b"), "#/$defs/a~1b");
/// ```
#[must_use]
pub fn join(pointer: &str, token: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + 1 + token.len());
    joined.push_str(pointer);
    push(&mut joined, token);
    joined
}

/// Goes one step down, in place.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for char in token.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The steps of a pointer, unescaped; `None` if `pointer` is not one.
#[must_use]
pub fn tokens(pointer: &str) -> Option<Vec<String>> {
    let path = pointer.strip_prefix('#')?;
    if path.is_empty() {
        return Some(Vec::new());
    }
    let steps = path.strip_prefix('/')?.split('/');
    // `~1` first: the other way round, `~01` would become a slash.
    Some(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

/// The pointer that a `$ref` into its own document means, with percent escapes undone; `None` for a reference elsewhere,
/// to an anchor, or one that is no UTF-8 text.
#[must_use]
pub fn of_reference(reference: &str) -> Option<String> {
    let pointer = percent_decode(reference)?;
    (pointer == "#" || pointer.starts_with("#/")).then_some(pointer)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let (high, low) = (hex_digit(bytes.next()?)?, hex_digit(bytes.next()?)?);
            decoded.push(high << 4 | low);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    // A hexadecimal digit is below 16 and so fits.
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}
