//! Reports in the JUnit format, which CI servers read.

use std::io::{self, Write};

use super::findings::Report;

/// Writes each report as a test suite with a test case for each case.
pub fn write(reports: &[Report], mut output: impl Write) -> io::Result<()> {
    let tests = reports.iter().map(|report| report.cases.len()).sum();
    let failures = reports.iter().map(Report::failed).sum();
    writeln!(output, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(output, "<testsuites {}>", counts(tests, failures))?;
    for report in reports {
        write_suite(report, &mut output)?;
    }
    writeln!(output, "</testsuites>")
}

fn counts(tests: usize, failures: usize) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\"")
}

fn write_suite(report: &Report, mut output: impl Write) -> io::Result<()> {
    let suite = escaped(&format!("{} at revision {}", report.name(), report.revision));
    let counts = counts(report.cases.len(), report.failed());
    writeln!(output, "  <testsuite name=\"{suite}\" {counts}>")?;
    for case in &report.cases {
        write!(
            output,
            "    <testcase classname=\"{suite}\" name=\"{}\"",
            escaped(&case.name)
        )?;
        if case.passed && case.warnings.is_empty() {
            writeln!(output, "/>")?;
            continue;
        }
        writeln!(output, ">")?;
        for warning in &case.warnings {
            writeln!(output, "      <system-out>{}</system-out>", escaped(warning))?;
        }
        for finding in &case.findings {
            let message = escaped(&finding.to_string());
            let places: Vec<&str> = [&finding.schema, &finding.specification]
                .into_iter()
                .filter_map(|place| place.as_deref())
                .collect();
            let places = escaped(&places.join("\n"));
            writeln!(output, "      <failure message=\"{message}\">{places}</failure>")?;
        }
        writeln!(output, "    </testcase>")?;
    }
    writeln!(output, "  </testsuite>")
}

/// Escapes text for an attribute or an element. Characters that XML doesn't allow are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push_str(&format!("&#{};", u32::from(character))),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ if character.is_control() => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_server_is_escaped_in_xml() {
        assert_eq!(
            escaped("a<\"b\">&\u{0}\u{1b}\n\u{ffff}"),
            "a&lt;&quot;b&quot;&gt;&amp;\u{fffd}\u{fffd}&#10;\u{fffd}"
        );
    }
}
