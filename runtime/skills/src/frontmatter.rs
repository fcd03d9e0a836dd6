//! The front matter of a `SKILL.md`.

use mcp_ext_skills::SkillFrontmatter;
use mcp_runtime_core::mcp_wire::from_str;
use serde_json::Value;

/// The maximum length of a skill's name.
const LONGEST_NAME: usize = 64;

/// Reads the front matter of a `SKILL.md` whose directory has this name.
///
/// # Errors
/// The problem of the front matter.
pub(crate) fn frontmatter(text: &str, directory: &str) -> Result<SkillFrontmatter, String> {
    let yaml = between_marks(text).ok_or("it doesn't begin with YAML between two lines of `---`")?;
    let json: Value = yaml_serde::from_str(yaml).map_err(|error| error.to_string())?;
    let frontmatter: SkillFrontmatter = from_str(&json.to_string()).map_err(|error| error.to_string())?;
    let name = &frontmatter.name;
    if !is_name(name) {
        return Err(format!(
            "`{name}` can't be the name of a skill: use up to {LONGEST_NAME} lower-case letters, digits, single hyphens"
        ));
    }
    if name != directory {
        return Err(format!("the skill is called `{name}`, and its directory `{directory}`"));
    }
    Ok(frontmatter)
}

fn between_marks(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some(&text[..end]);
        }
        end += line.len();
    }
    None
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    name.len() <= LONGEST_NAME && name.split('-').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_front_matter_is_kept() {
        let text = "---\nname: refunds\ndescription: Refunds money\nmetadata:\n  version: \"2.1\"\n---\n# Refunds\n";
        let read = frontmatter(text, "refunds").unwrap();
        assert_eq!(read.description, "Refunds money");
        assert_eq!(read.extra.get("metadata").unwrap().text(), r#"{"version":"2.1"}"#);
    }

    #[test]
    fn errors_describe_the_problem() {
        for (text, what) in [
            ("# Refunds\n", "doesn't begin with YAML"),
            ("---\nname: refunds\n", "doesn't begin with YAML"),
            ("---\nname: refunds\n---\n", "description"),
            ("---\nname: [\n---\n", "line"),
            ("---\nname: Refunds\ndescription: d\n---\n", "can't be the name"),
            ("---\nname: a--b\ndescription: d\n---\n", "can't be the name"),
            ("---\nname: other\ndescription: d\n---\n", "its directory `refunds`"),
        ] {
            let error = frontmatter(text, "refunds").unwrap_err();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }
}
