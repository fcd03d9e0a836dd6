//! A JSON formatter that puts each member on its own line.

/// Formats valid JSON. Numbers, strings and the order of members are unchanged.
pub fn pretty(json: &str) -> String {
    let (mut text, mut depth, mut in_string, mut escaped) = (String::with_capacity(json.len() * 2), 0, false, false);
    let line = |text: &mut String, depth: usize| {
        text.push('\n');
        (0..depth).for_each(|_| text.push_str("  "));
    };
    let mut previous = ' ';
    for c in json.chars() {
        if in_string {
            text.push(c);
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        if c.is_whitespace() {
            continue;
        }
        let opened = matches!(previous, '{' | '[');
        match c {
            '}' | ']' => {
                depth -= 1;
                if !opened {
                    line(&mut text, depth);
                }
            }
            _ if opened => line(&mut text, depth),
            _ if previous == ',' => line(&mut text, depth),
            _ => {}
        }
        text.push(c);
        match c {
            '{' | '[' => depth += 1,
            ':' => text.push(' '),
            '"' => in_string = true,
            _ => {}
        }
        previous = c;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn each_member_is_unchanged_on_its_own_line() {
        let json = r#"{"b":[1.50,{}, []],"a":{"x":"{,\"[\\"},"c":[{"d":null}]}"#;
        let expected = "{\n  \"b\": [\n    1.50,\n    {},\n    []\n  ],\n  \"a\": {\n    \"x\": \"{,\\\"[\\\\\"\n  },\n  \"c\": [\n    {\n      \
                        \"d\": null\n    }\n  ]\n}\n";
        assert_eq!(pretty(json), expected);
        assert_eq!(pretty(expected), expected);
    }
}
