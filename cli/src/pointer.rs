//! JSON Pointers with wildcards.

use std::str::FromStr;

/// A JSON Pointer in which `*` matches any name or index.
#[derive(Debug, Clone)]
pub struct Pointer(Vec<String>);

impl FromStr for Pointer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = text.strip_prefix('/').ok_or("a JSON Pointer starts with `/`")?;
        let unescaped = |name: &str| name.replace("~1", "/").replace("~0", "~");
        Ok(Self(names.split('/').map(unescaped).collect()))
    }
}

impl Pointer {
    /// Whether a place is the target of this pointer, or within it.
    pub fn holds(&self, place: &[String]) -> bool {
        let matches = |(wanted, name): (&String, &String)| wanted == "*" || wanted == name;
        self.0.len() <= place.len() && self.0.iter().zip(place).all(matches)
    }
}
