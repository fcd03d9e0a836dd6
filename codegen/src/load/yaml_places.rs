//! Finds the places of a YAML document's values in its text.
//!
//! The values are known already, in their order, so the text is followed rather than parsed: the next name of a block
//! mapping is the next line with the mapping's indent that starts with that name. Where the text can't be followed (an alias, a
//! complex key) the places end, and the values below have the place of the last one that was found.

use super::places::Locator;
use super::yaml::{Found, Tree};

/// The places of `tree`, which was read from `text`.
pub(super) fn find(text: &str, tree: &Tree) -> Found {
    let mut finder = Finder {
        text,
        offset: 0,
        locator: Locator::new(text),
    };
    finder.skip_document_start();
    finder.value(tree, 0)
}

struct Finder<'text> {
    text: &'text str,
    /// Everything before this has been followed.
    offset: usize,
    locator: Locator<'text>,
}

impl Finder<'_> {
    /// Follows the value after the offset; `start` is the place it gets when it has no text (`key:`).
    fn value(&mut self, tree: &Tree, start: usize) -> Found {
        if matches!(tree, Tree::Scalar(value) if value.is_null()) {
            return Found {
                place: self.locator.at(start),
                within: Vec::new(),
            };
        }
        self.skip_to_content();
        let place = self.locator.at(self.offset);
        let within = match (tree, self.rest().chars().next()) {
            (Tree::Map(entries), Some('{')) => self.flow_map(entries),
            (Tree::List(items), Some('[')) => self.flow_list(items),
            (Tree::Map(_) | Tree::List(_), Some('*')) => Vec::new(),
            (Tree::Map(entries), _) => self.block_map(entries),
            (Tree::List(items), _) => self.block_list(items),
            (Tree::Scalar(_), _) => Vec::new(),
        };
        Found { place, within }
    }

    fn block_map(&mut self, entries: &[(String, Tree)]) -> Vec<Found> {
        let indent = self.indent();
        let mut found = Vec::new();
        for (name, tree) in entries {
            let Some(length) = self.seek(indent, |line| name_length(line, name)) else {
                break;
            };
            let start = self.offset;
            self.offset += length;
            found.push(self.value(tree, start));
        }
        found
    }

    fn block_list(&mut self, items: &[Tree]) -> Vec<Found> {
        let indent = self.indent();
        let mut found = Vec::new();
        for tree in items {
            let dash = |line: &str| (line == "-" || line.starts_with("- ")).then_some(1);
            let Some(length) = self.seek(indent, dash) else {
                break;
            };
            let start = self.offset;
            self.offset += length;
            found.push(self.value(tree, start));
        }
        found
    }

    /// Goes to the next line start with this indent that `matches`, the offset itself included; gives what `matches` gives.
    fn seek(&mut self, indent: usize, matches: impl Fn(&str) -> Option<usize>) -> Option<usize> {
        let mut offset = self.offset;
        while offset <= self.text.len() {
            let line_start = self.text[..offset].rfind('\n').map_or(0, |at| at + 1);
            let line_end = self.text[offset..].find('\n').map_or(self.text.len(), |at| offset + at);
            let before = &self.text[line_start..offset];
            // A first name may stand after dashes (`- name: …`), the later ones stand alone.
            let is_start = offset == self.offset || before.chars().all(|char| char == ' ');
            if offset - line_start == indent
                && is_start
                && let Some(length) = matches(self.text[offset..line_end].trim_end())
            {
                self.offset = offset;
                return Some(length);
            }
            offset = line_end + 1;
            let spaces = self
                .text
                .get(offset..)?
                .bytes()
                .take_while(|byte| *byte == b' ')
                .count();
            offset += spaces;
        }
        None
    }

    fn flow_map(&mut self, entries: &[(String, Tree)]) -> Vec<Found> {
        self.offset += 1;
        let mut found = Vec::new();
        for (_, tree) in entries {
            self.skip_flow_space();
            let start = self.offset;
            self.skip_flow_scalar(true);
            self.skip_flow_space();
            if !self.rest().starts_with(':') {
                break;
            }
            self.offset += 1;
            found.push(self.flow_value(tree, start));
        }
        self.skip_flow_space();
        self.offset += usize::from(self.rest().starts_with('}'));
        found
    }

    fn flow_list(&mut self, items: &[Tree]) -> Vec<Found> {
        self.offset += 1;
        let mut found = Vec::new();
        for tree in items {
            self.skip_flow_space();
            found.push(self.flow_value(tree, self.offset));
        }
        self.skip_flow_space();
        self.offset += usize::from(self.rest().starts_with(']'));
        found
    }

    fn flow_value(&mut self, tree: &Tree, start: usize) -> Found {
        self.skip_to_content();
        let found = self.value(tree, start);
        if matches!(tree, Tree::Scalar(_)) || self.rest().starts_with('*') {
            self.skip_flow_scalar(false);
        }
        found
    }

    /// Skips a scalar of a flow collection; a plain name ends at its colon.
    fn skip_flow_scalar(&mut self, is_name: bool) {
        let mut chars = self.rest().char_indices().peekable();
        let quote = chars
            .next_if(|(_, char)| matches!(char, '"' | '\''))
            .map(|(_, quote)| quote);
        let mut length = self.rest().len();
        while let Some((at, char)) = chars.next() {
            let ends = match quote {
                Some('"') if char == '\\' => {
                    chars.next();
                    false
                }
                Some('\'') if char == '\'' && chars.next_if(|(_, next)| *next == '\'').is_some() => false,
                Some(quote) => char == quote,
                None => matches!(char, ',' | ']' | '}') || (is_name && char == ':'),
            };
            if ends {
                length = at + usize::from(quote.is_some());
                break;
            }
        }
        self.offset += length;
    }

    /// Skips space, comments and commas between the values of a flow collection.
    fn skip_flow_space(&mut self) {
        self.skip_space_and_comments();
        while self.rest().starts_with(',') {
            self.offset += 1;
            self.skip_space_and_comments();
        }
    }

    /// Skips what may stand before a value: space, comments, anchors and tags.
    fn skip_to_content(&mut self) {
        loop {
            self.skip_space_and_comments();
            if !self.rest().starts_with(['&', '!']) {
                break;
            }
            self.offset += self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
        }
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            self.offset += space;
            if !self.rest().starts_with('#') {
                break;
            }
            self.offset += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips directives and the line of dashes before a document.
    fn skip_document_start(&mut self) {
        loop {
            self.skip_space_and_comments();
            if !self.rest().starts_with('%') {
                break;
            }
            self.offset += self.rest().find('\n').unwrap_or(self.rest().len());
        }
        let rest = self.rest();
        if rest
            .strip_prefix("---")
            .is_some_and(|after| after.is_empty() || after.starts_with(char::is_whitespace))
        {
            self.offset += 3;
        }
    }

    /// How far the offset is from the start of its line.
    fn indent(&self) -> usize {
        self.offset - self.text[..self.offset].rfind('\n').map_or(0, |at| at + 1)
    }

    fn rest(&self) -> &str {
        &self.text[self.offset..]
    }
}

/// The length of `name:` at the start of a line, quoted or not.
fn name_length(line: &str, name: &str) -> Option<usize> {
    let plain = line.strip_prefix(name);
    let quoted = || match line.chars().next()? {
        '\'' => line.strip_prefix(&format!("'{}'", name.replace('\'', "''"))),
        '"' => {
            let token = serde_json::to_string(name).ok()?;
            line.strip_prefix(&token)
        }
        _ => None,
    };
    let is_name = |after: &str| {
        after
            .trim_start()
            .strip_prefix(':')
            .is_some_and(|value| value.is_empty() || value.starts_with(' '))
    };
    let after = plain
        .filter(|after| is_name(after))
        .or_else(|| quoted().filter(|after| is_name(after)))?;
    let colon = after.find(':')?;
    Some(line.len() - after.len() + colon + 1)
}
