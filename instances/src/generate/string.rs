//! Strings: unusual text, and text with a required pattern, format or length.

use serde_json::Value;

use super::Generator;
use crate::constraints::Constraints;
use crate::pattern::Pattern;

const TEXTS: [&str; 10] = [
    "",
    "a",
    "hello world",
    "naïve ☕ 日本語",
    "😀",
    "e\u{301} \u{202e}rtl",
    "quote \" slash \\ nl \n tab \t",
    "\u{0}ctl",
    "2025-01-12T15:00:58Z",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

/// The length of a long string, which exceeds small buffers.
const LONG: usize = 300;

/// The number of texts that are sampled from a pattern, before it is given up.
const SAMPLES: usize = 32;

impl Generator<'_> {
    pub(super) fn string(&mut self, constraints: &Constraints<'_>) -> Option<String> {
        let low = constraints.at_least("minLength");
        let high = constraints.at_most("maxLength").unwrap_or(usize::MAX);
        if low > high {
            return None;
        }
        let patterns: Vec<&str> = constraints.each("pattern").filter_map(Value::as_str).collect();
        if let Some(first) = patterns.first() {
            let fits = |text: &String| {
                (low..=high).contains(&text.chars().count())
                    && patterns.iter().all(|pattern| self.document.matches(pattern, text))
            };
            let pattern = Pattern::parse(first);
            let sampled = pattern.iter().flat_map(|pattern| std::iter::repeat_n(pattern, SAMPLES));
            let sampled = sampled.map(|pattern| pattern.sample(self.rng, low)).find(fits);
            return sampled.or_else(|| TEXTS.iter().map(|&text| text.to_owned()).find(fits));
        }
        let well_formed = constraints
            .each("format")
            .filter_map(Value::as_str)
            .find_map(well_formed);
        if well_formed.is_none() && self.rng.once_in(20) {
            return Some("x".repeat(LONG.clamp(low, high)));
        }
        let text = *self.rng.pick(well_formed.unwrap_or(&TEXTS))?;
        Some(fitted(text, low, high))
    }

    /// Returns a text that matches a pattern, if one is found.
    pub(super) fn text_matching(&mut self, pattern: &str) -> Option<String> {
        let parsed = Pattern::parse(pattern)?;
        (0..SAMPLES)
            .map(|_| parsed.sample(self.rng, 0))
            .find(|text| self.document.matches(pattern, text))
    }
}

/// Returns texts of a format, if it is known.
fn well_formed(format: &str) -> Option<&'static [&'static str]> {
    Some(match format {
        "byte" => &["", "aGk=", "AAECAwQ=", "/+8="],
        "date" => &["2025-01-12", "2000-02-29"],
        "date-time" => &["2025-01-12T15:00:58Z", "2025-01-12T15:00:58.123+01:00"],
        "email" => &["a@example.com", "first.last+tag@example.org"],
        "hostname" => &["example.com", "localhost"],
        "ipv4" => &["127.0.0.1", "0.0.0.0"],
        "ipv6" => &["::1", "2001:db8::1"],
        "time" => &["15:00:58Z", "00:00:00+01:00"],
        "uri" | "uri-reference" | "iri" => &[
            "file:///a/b.rs",
            "https://example.com/x?y=1#z",
            "urn:x:y",
            "git://r/%C3%A4",
        ],
        "uri-template" => &["file:///{path}", "db://{t}/{?q*}"],
        "uuid" => &["123e4567-e89b-12d3-a456-426614174000"],
        _ => return None,
    })
}

/// Truncates or extends a text so that its length in characters is within bounds.
fn fitted(text: &str, low: usize, high: usize) -> String {
    let mut fitted: String = text.chars().take(high).collect();
    let missing = low.saturating_sub(fitted.chars().count());
    fitted.extend(std::iter::repeat_n('x', missing));
    fitted
}
