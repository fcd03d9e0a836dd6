//! What is wrong with a single rule.

/// What is wrong with a rule, and what to do about it.
pub type Fault = (&'static str, &'static str);

/// What is wrong with the reason of a rule.
pub fn unexplained(why: &str, link: &str) -> Option<Fault> {
    if why.trim().is_empty() {
        Some(("`why` says nothing", "explain in `why` what the rule is for"))
    } else if !link.starts_with("https://") {
        Some(("`link` isn't an https address", "name the page that the rule follows"))
    } else {
        None
    }
}
