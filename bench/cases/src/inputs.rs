//! The JSON texts to decode, which code generates identically in every run.

/// A kind of JSON text, such as a peer sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// A `tools/call` request of 166 bytes.
    Call,
    /// The response to `tools/list`: 200 tools with input schemas, about 300 KB.
    Tools,
    /// The response to `tools/call`: 50 content blocks, one of them a text of 100 KB, about 130 KB in total.
    Blocks,
    /// The call in 2026-07-28, with the metadata that earlier revisions send once per session: 348 bytes.
    LatestCall,
    /// The list in 2026-07-28, with its `resultType` and cache hints.
    LatestTools,
    /// The result of a call in 2026-07-28, with its `resultType`.
    LatestBlocks,
}

impl Case {
    /// Every case.
    pub const ALL: [Self; 6] = [
        Self::Call,
        Self::Tools,
        Self::Blocks,
        Self::LatestCall,
        Self::LatestTools,
        Self::LatestBlocks,
    ];

    /// The name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Tools => "tools",
            Self::Blocks => "blocks",
            Self::LatestCall => "call-2026-07-28",
            Self::LatestTools => "tools-2026-07-28",
            Self::LatestBlocks => "blocks-2026-07-28",
        }
    }

    /// Generates the text.
    #[must_use]
    pub fn json(self) -> String {
        match self {
            Self::Call => call(""),
            Self::Tools => response(&tools(Members::Common)),
            Self::Blocks => response(&blocks(Members::Common)),
            Self::LatestCall => call(LATEST_META),
            Self::LatestTools => response(&tools(Members::Latest)),
            Self::LatestBlocks => response(&blocks(Members::Latest)),
        }
    }
}

/// The set of members that a result has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Members {
    /// Members that both 2025-06-18 and 2025-11-25 declare.
    Common,
    /// The common ones, and some that 2025-06-18 lacks: `icons` of tools and links, and `execution` of tools.
    Newer,
    /// The common ones, and those that results of 2026-07-28 require.
    Latest,
}

/// The metadata about the client in each request of 2026-07-28.
const LATEST_META: &str = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

fn call(meta: &str) -> String {
    let arguments = r#"{"pattern":"src/*.rs","query":"fn main","limit":50,"case_sensitive":false}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"search_files","arguments":{arguments}{meta}}}}}"#
    )
}

fn response(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

/// Generates the result of `tools/list`.
pub fn tools(members: Members) -> String {
    let latest = match members {
        Members::Latest => r#","resultType":"complete","ttlMs":60000,"cacheScope":"private""#,
        _ => "",
    };
    format!(r#"{{"tools":[{}]{latest}}}"#, joined(200, |index| tool(index, members)))
}

fn tool(index: usize, members: Members) -> String {
    let (verb, noun) = (pick(VERBS, index), pick(NOUNS, index / VERBS.len()));
    let description = sentence(index, 20);
    let schema = object_schema(index, 5 + index % 4, true);
    let (reads, repeats) = (index.is_multiple_of(2), index.is_multiple_of(3));
    let newer = match members {
        Members::Common | Members::Latest => String::new(),
        Members::Newer => format!(r#"{},"execution":{{"taskSupport":"optional"}}"#, icons("tool", index)),
    };
    format!(
        r#"{{"name":"{verb}_{noun}_{index}","title":"{verb} {noun}","description":"{description}","inputSchema":{schema},"annotations":{{"readOnlyHint":{reads},"destructiveHint":false,"idempotentHint":{repeats},"openWorldHint":true}}{newer}}}"#
    )
}

/// Generates the schema of an object with `count` members. If `nests` is true, the last one is also an object.
fn object_schema(seed: usize, count: usize, nests: bool) -> String {
    let properties = joined(count, |member| {
        let name = pick(NOUNS, seed + member);
        let schema = match nests && member + 1 == count {
            true => object_schema(seed + 3, 2, false),
            false => member_schema(seed + member),
        };
        format!(r#""{name}_{member}":{schema}"#)
    });
    let (first, second) = (pick(NOUNS, seed), pick(NOUNS, seed + 1));
    format!(
        r#"{{"type":"object","properties":{{{properties}}},"required":["{first}_0","{second}_1"],"additionalProperties":false}}"#
    )
}

fn member_schema(seed: usize) -> String {
    let description = sentence(seed, 7);
    let rest = match seed % 5 {
        0 => r#""type":"string","minLength":1,"maxLength":256"#,
        1 => r#""type":"integer","minimum":0,"maximum":1000,"default":25"#,
        2 => r#""type":"string","enum":["ascending","descending","relevance"],"default":"relevance""#,
        3 => r#""type":"array","items":{"type":"string","format":"uri"},"maxItems":16"#,
        _ => r#""type":["boolean","null"],"default":null"#,
    };
    format!(r#"{{{rest},"description":"{description}"}}"#)
}

fn icons(of: &str, index: usize) -> String {
    format!(
        r#","icons":[{{"src":"https://example.org/{of}_{index}.png","mimeType":"image/png","sizes":["48x48","96x96"]}}]"#
    )
}

/// Generates the result of `tools/call`.
pub fn blocks(members: Members) -> String {
    let content = joined(50, |index| match index {
        25 => format!(r#"{{"type":"text","text":"{}"}}"#, log(100_000)),
        _ => block(index, members),
    });
    let latest = match members {
        Members::Latest => r#","resultType":"complete""#,
        _ => "",
    };
    format!(
        r#"{{"content":[{content}],"structuredContent":{{"matches":[{}],"truncated":false}},"isError":false{latest}}}"#,
        joined(20, |line| format!(r#"{{"line":{line},"score":0.{line}5}}"#))
    )
}

fn block(index: usize, members: Members) -> String {
    let newer = match members {
        Members::Common | Members::Latest => String::new(),
        Members::Newer => icons("link", index),
    };
    match index % 5 {
        0 => format!(
            r#"{{"type":"text","text":"{}","annotations":{{"audience":["user"],"priority":0.5}}}}"#,
            log(500)
        ),
        1 => format!(
            r#"{{"type":"image","data":"{}","mimeType":"image/png"}}"#,
            base64(index, 800)
        ),
        2 => format!(
            r#"{{"type":"audio","data":"{}","mimeType":"audio/wav"}}"#,
            base64(index, 800)
        ),
        3 => format!(
            r#"{{"type":"resource_link","name":"module_{index}","uri":"file:///project/src/module_{index}.rs","description":"{}","mimeType":"text/x-rust","size":4096{newer}}}"#,
            sentence(index, 12)
        ),
        _ => format!(
            r#"{{"type":"resource","resource":{{"uri":"file:///project/notes/{index}.md","mimeType":"text/markdown","text":"{}"}}}}"#,
            log(500)
        ),
    }
}

/// Generates the content of a JSON string with some escapes: lines such as a program prints, of `bytes` or slightly
/// more.
fn log(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let mut line = 0;
    while text.len() < bytes {
        text.push_str(&format!(
            r"src/module_{line}.rs:{}: {}\n",
            line * 7 % 400,
            sentence(line, 8)
        ));
        line += 1;
    }
    text
}

/// Generates base64 digits, which aren't a real image.
fn base64(seed: usize, count: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |at: usize| char::from(DIGITS[(seed * 31 + at * 17 + at * at) % 64]);
    (0..count).map(digit).collect()
}

fn sentence(seed: usize, words: usize) -> String {
    let words: Vec<&str> = (0..words).map(|at| pick(WORDS, seed * 7 + at * 5)).collect();
    words.join(" ")
}

fn joined(count: usize, item: impl FnMut(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

fn pick(from: &[&'static str], at: usize) -> &'static str {
    from[at % from.len()]
}

const VERBS: &[&str] = &["search", "read", "write", "list", "delete", "create", "update", "watch"];

const NOUNS: &[&str] = &[
    "files", "issues", "branches", "reviews", "releases", "labels", "users", "teams", "boards", "events", "tables",
];

const WORDS: &[&str] = &[
    "the", "tool", "returns", "every", "entry", "that", "matches", "a", "given", "pattern", "and", "skips", "those",
    "which", "were", "archived", "before", "or", "belong", "to", "another", "project", "in", "order", "of", "time",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_have_the_documented_sizes() {
        let size = |case: Case| case.json().len();
        assert_eq!(size(Case::Call), 166);
        assert_eq!(size(Case::LatestCall), 348);
        assert!((290_000..310_000).contains(&size(Case::Tools)), "{}", size(Case::Tools));
        assert!(
            (125_000..135_000).contains(&size(Case::Blocks)),
            "{}",
            size(Case::Blocks)
        );
    }
}
