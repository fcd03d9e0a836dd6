//! Encoding of text as the value of a header, which is ASCII: other text is written in base64.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;

const BEGINNING: &str = "=?base64?";
const END: &str = "?=";

/// Encodes a text as the value of a header.
pub fn encode(text: &str) -> HeaderValue {
    let is_plain = !text.is_empty()
        && text.trim() == text
        && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && encoded(text).is_none();
    let plain = is_plain.then(|| HeaderValue::from_str(text).ok()).flatten();
    plain.unwrap_or_else(|| {
        let value = format!("{BEGINNING}{}{END}", STANDARD.encode(text));
        // The alphabet of base64 is ASCII.
        HeaderValue::from_str(&value).unwrap_or_else(|_| HeaderValue::from_static(""))
    })
}

/// Decodes the value of a header; `None` if it is malformed.
pub fn decode(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let text = value.to_str().ok()?.trim_matches([' ', '\t']);
    match encoded(text) {
        Some(encoded) => Some(String::from_utf8(STANDARD.decode(encoded).ok()?).ok()?.into()),
        None => Some(text.into()),
    }
}

/// Returns the part between the markers of a base64 value.
fn encoded(text: &str) -> Option<&str> {
    text.strip_prefix(BEGINNING)?.strip_suffix(END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_survives_encoding_and_only_plain_ascii_stays_readable() {
        for (text, plain) in [
            ("get_weather", true),
            ("file:///a b?c=%20#d", true),
            ("=?base64?", true),
            ("?=", true),
            ("", false),
            (" a", false),
            ("a ", false),
            ("a\tb", false),
            ("a\r\nb: c", false),
            ("Zürich", false),
            ("\u{0}", false),
            ("=?base64?SGVsbG8=?=", false),
        ] {
            let value = encode(text);
            assert_eq!(value == text, plain, "{text:?}: {value:?}");
            assert_eq!(decode(&value).as_deref(), Some(text));
        }
    }

    #[test]
    fn malformed_values_are_not_decoded() {
        for value in [
            "=?base64?SGVsbG8?=",
            "=?base64?SGVs!!!bG8=?=",
            "=?base64?SGVsbG9=?=",
            "=?base64?/w==?=",
        ] {
            assert_eq!(decode(&HeaderValue::from_static(value)), None, "{value}");
        }
        assert_eq!(decode(&HeaderValue::from_bytes(b"Z\xfcrich").expect("a value")), None);
        let literal = HeaderValue::from_static(" =?base64?SGVsbG8= ");
        assert_eq!(decode(&literal).as_deref(), Some("=?base64?SGVsbG8="));
    }
}
