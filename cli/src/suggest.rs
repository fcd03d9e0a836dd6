//! Suggestions for names that aren't known.

/// The least similarity of a suggestion, from 0 to 1.
const SIMILAR: f64 = 0.8;

/// The known name that is most similar to an unknown one, if any is similar.
fn similar<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&name, &known.to_lowercase());
    let scored = known.iter().map(|known| (likeness(known), *known));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(likeness, _)| *likeness >= SIMILAR).map(|(_, name)| name)
}

/// A tip for an unknown name: the similar name, or else all known names.
pub fn tip(name: &str, known: &[&str]) -> String {
    match (similar(name, known), known) {
        (Some(similar), _) => format!("did you mean {similar:?}?"),
        (None, []) => "there are none".to_owned(),
        (None, [only]) => format!("there is only {only}"),
        (None, known) => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_suggests_one_name_and_any_other_name_lists_all() {
        let known = ["Tool", "ToolAnnotations", "ListToolsResult"];
        for wrong in ["Tol", "tool", "Toool", "Tools"] {
            assert_eq!(tip(wrong, &known), "did you mean \"Tool\"?", "{wrong}");
        }
        assert_eq!(tip("ListToolResult", &known), "did you mean \"ListToolsResult\"?");
        assert_eq!(
            tip("Nonesuch", &known),
            "there are Tool, ToolAnnotations, ListToolsResult"
        );
        assert_eq!(tip("Nonesuch", &["Tool"]), "there is only Tool");
        assert_eq!(tip("Tool", &[]), "there are none");
    }
}
