//! The type of an unquoted YAML scalar: null, a boolean, a number or text.

use serde_json::{Number, Value};

/// The value of a plain scalar. `None` for a number that JSON doesn't have.
///
/// A scalar that only some YAML parsers read as a number, such as `012` or `1_000`, is text.
pub(super) fn resolve(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if is_no_number(text) => return None,
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_digits = digits.starts_with(|char: char| char.is_digit(radix));
            return u64::from_str_radix(digits, radix)
                .ok()
                .filter(|_| is_digits)
                .map(Number::from);
        }
    }
    let is_number = unsigned.starts_with(|char: char| char.is_ascii_digit() || char == '.');
    let has_leading_zero =
        unsigned.len() > 1 && unsigned.starts_with('0') && unsigned.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || has_leading_zero {
        return None;
    }
    let integer = text.parse::<i64>().map(Number::from);
    let integer = integer.or_else(|_| text.parse::<u64>().map(Number::from));
    integer.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

/// Infinity and not-a-number.
fn is_no_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}
