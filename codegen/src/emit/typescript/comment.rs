//! Comments.

use super::super::docs::wrapped;

/// A documentation comment, each line of which begins with `indent`; nothing, if there is nothing to say.
pub(super) fn comment(text: &str, link: Option<&str>, deprecation: Option<&str>, indent: &str) -> String {
    let mut lines = wrapped(text);
    lines.extend(link.map(|link| format!("@see {link}")));
    lines.extend(deprecation.map(|note| format!("@deprecated {note}")));
    let lines: Vec<String> = lines.iter().map(|line| line.replace("*/", "* /")).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines = lines
                .iter()
                .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n");
            format!("{indent}/**\n{}{indent} */\n", lines.collect::<String>())
        }
    }
}
