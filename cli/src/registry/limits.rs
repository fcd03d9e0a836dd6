//! Rules of the registry beyond the schema, taken from its documentation and validators
//! (<https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/official-registry-requirements.md>).

use mcp_registry_types::mcp_wire::path::Path;
use serde_json::Value;

use super::problem::Problem;

/// The maximum number of bytes of the publisher's metadata.
const METADATA_BYTES: usize = 4096;

/// The key of the publisher's metadata, the only metadata that the registry keeps.
const METADATA: &str = "io.modelcontextprotocol.registry/publisher-provided";

/// The only package registry that the registry accepts for each type.
const PACKAGE_REGISTRIES: [(&str, &str); 4] = [
    ("cargo", "https://crates.io"),
    ("npm", "https://registry.npmjs.org"),
    ("nuget", "https://api.nuget.org/v3/index.json"),
    ("pypi", "https://pypi.org"),
];

/// A part of a document, and its path.
struct Part<'v> {
    value: &'v Value,
    path: Path,
}

/// Returns the reasons for which the registry would reject a document that is valid against its schema, or drop parts
/// of it.
pub fn limits(document: &Value) -> Vec<Problem> {
    let root = Part {
        value: document,
        path: Path::default(),
    };
    let mut problems = Vec::new();
    problems.extend(root.check("name", wrong_name));
    problems.extend(root.check("version", wrong_version));
    problems.extend(root.check("title", |title| {
        title.trim().is_empty().then(|| "the title is blank".to_owned())
    }));
    problems.extend(root.check("websiteUrl", no_https));
    problems.extend(
        root.elements("icons")
            .iter()
            .filter_map(|icon| icon.check("src", no_https)),
    );
    problems.extend(root.member("repository").iter().flat_map(repository));
    problems.extend(root.member("_meta").iter().flat_map(metadata));
    problems.extend(root.elements("packages").iter().flat_map(package));
    for remote in root.elements("remotes") {
        problems.extend(remote.check("url", wrong_remote));
        let variables = remote.member("variables");
        let variables = variables.iter().filter_map(|variables| variables.value.as_object());
        let known: Vec<&str> = variables.flatten().map(|(name, _)| name.as_str()).collect();
        problems.extend(remote.check("url", |url| undefined(url, &known, "`variables`")));
    }
    problems
}

impl<'v> Part<'v> {
    /// Finds a member by its name in newer schema versions. The first version has snake case names, such as
    /// `website_url` for `websiteUrl`.
    fn member(&self, name: &str) -> Option<Self> {
        let in_first = || {
            name.chars()
                .fold(String::new(), |name, c| match c.is_ascii_uppercase() {
                    true => name + "_" + &c.to_ascii_lowercase().to_string(),
                    false => name + &c.to_string(),
                })
        };
        let (name, value) = match self.value.get(name) {
            Some(value) => (name.to_owned(), value),
            None => self.value.get(in_first()).map(|value| (in_first(), value))?,
        };
        let mut path = self.path.clone();
        path.push_member(name);
        Some(Self { value, path })
    }

    fn elements(&self, name: &str) -> Vec<Self> {
        let list = self.member(name);
        let elements = list.iter().flat_map(|list| {
            let elements = list.value.as_array().into_iter().flatten().enumerate();
            elements.map(|(index, value)| {
                let mut path = list.path.clone();
                path.push_index(index);
                Self { value, path }
            })
        });
        elements.collect()
    }

    fn text(&self, name: &str) -> Option<&'v str> {
        self.member(name)?.value.as_str()
    }

    /// Checks a member, if it is present and a string.
    fn check(&self, name: &str, wrong: impl Fn(&str) -> Option<String>) -> Option<Problem> {
        let member = self.member(name)?;
        Some(Problem::error(member.path, wrong(member.value.as_str()?)?))
    }
}

fn wrong_name(name: &str) -> Option<String> {
    let is_part = |part: &str, others: &[char]| {
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        part.len() > 1
            && part.starts_with(is_plain)
            && part.ends_with(is_plain)
            && part.chars().all(|c| is_plain(c) || others.contains(&c))
    };
    let is_name = name
        .split_once('/')
        .is_some_and(|(domain, name)| is_part(domain, &['.', '-']) && is_part(name, &['.', '-', '_']));
    (!is_name).then(|| {
        "a name is a reversed domain and a name in it, as in com.example/weather; both begin and end with a letter or digit, and have at \
         least two characters"
            .to_owned()
    })
}

fn wrong_version(version: &str) -> Option<String> {
    let is_wildcard = || version.split('.').any(|part| matches!(part.trim(), "x" | "X" | "*"));
    let is_range = version.trim_start().starts_with(['^', '~', '>', '<', '=']) || version.contains("||");
    match version {
        "latest" => Some("`latest` is reserved; write the version".to_owned()),
        _ if is_range || version.contains(" - ") || is_wildcard() => {
            Some("this is a range of versions; write a single version".to_owned())
        }
        _ => None,
    }
}

fn no_https(address: &str) -> Option<String> {
    (!address.starts_with("https://")).then(|| "the address has to start with https://".to_owned())
}

fn wrong_remote(address: &str) -> Option<String> {
    let host = address.strip_prefix("https://").unwrap_or_default();
    let host = host.split(['/', ':', '?']).next().unwrap_or_default();
    let is_local = matches!(host, "localhost" | "127.0.0.1") || host.ends_with(".localhost");
    no_https(address).or_else(|| is_local.then(|| "a remote has to be reachable by everyone".to_owned()))
}

fn repository(repository: &Part<'_>) -> Vec<Problem> {
    let source = repository.text("source").unwrap_or_default();
    let wrong_address = |address: &str| {
        let host = format!("{source}.com/");
        let path = address
            .strip_prefix("https://")
            .or_else(|| address.strip_prefix("http://"));
        let path = path.map(|path| path.strip_prefix("www.").unwrap_or(path));
        let names = path.and_then(|path| path.strip_prefix(host.as_str()));
        let names: Vec<&str> = names.map_or_else(Vec::new, |names| names.trim_end_matches('/').split('/').collect());
        let is_name = |name: &&str| {
            let is_word = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            !name.is_empty() && name.chars().all(is_word)
        };
        let is_repository = names.iter().all(is_name)
            && match source {
                "github" => names.len() == 2,
                "gitlab" => names.len() >= 2,
                _ => false,
            };
        (!is_repository).then(|| {
            "the address has to be that of a repository on github.com or gitlab.com, and `source` is `github` or `gitlab`".to_owned()
        })
    };
    let wrong_folder = |folder: &str| {
        let is_clean = |part: &str| !matches!(part, "" | "." | "..");
        (!folder.split('/').all(is_clean)).then(|| "the folder has to be a path within the repository".to_owned())
    };
    let problems = [
        repository.check("url", wrong_address),
        repository.check("subfolder", wrong_folder),
    ];
    problems.into_iter().flatten().collect()
}

fn metadata(metadata: &Part<'_>) -> Vec<Problem> {
    let members = metadata.value.as_object().into_iter().flatten();
    let problems = members.filter_map(|(key, value)| {
        let mut path = metadata.path.clone();
        path.push_member(key);
        if key != METADATA {
            let message = format!("the registry drops everything outside `{METADATA}`");
            return Some(Problem::warning(path, message));
        }
        let length = value.to_string().len();
        let message = || format!("the registry takes {METADATA_BYTES} bytes of metadata, and this has {length}");
        (length > METADATA_BYTES).then(|| Problem::error(path, message()))
    });
    problems.collect()
}

fn package(package: &Part<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let kind = package.text("registryType").unwrap_or_default();
    problems.extend(package.check("identifier", |name| {
        name.contains(' ')
            .then(|| "a package has no space in its name".to_owned())
    }));
    problems.extend(package.check("version", wrong_version));
    let mut known = PACKAGE_REGISTRIES.iter();
    if let Some((_, address)) = known.find(|(name, _)| *name == kind) {
        problems.extend(package.check("registryBaseUrl", |found| {
            (found != *address)
                .then(|| format!("packages of the type `{kind}` are from {address}; leave the member out"))
        }));
        if package.member("version").is_none() {
            let message = format!("a package of the type `{kind}` needs a `version`");
            problems.push(Problem::error(package.path.clone(), message));
        }
    }
    let refused: &[&str] = match kind {
        "oci" => &["registryBaseUrl", "version", "fileSha256"],
        "cargo" => &["fileSha256"],
        _ => &[],
    };
    let refused = refused.iter().filter_map(|name| package.member(name));
    problems.extend(refused.map(|member| {
        let message = match kind {
            "oci" => "an image has everything in its `identifier`, as in ghcr.io/owner/image:1.0.0; leave this out",
            _ => "a crate has no file of its own; leave this out",
        };
        Problem::error(member.path, message)
    }));
    if kind == "mcpb" && package.member("fileSha256").is_none() {
        problems.push(Problem::error(package.path.clone(), "a bundle needs a `fileSha256`"));
    }
    problems.extend(package_variables(package));
    let lists = ["runtimeArguments", "packageArguments"];
    problems.extend(
        lists
            .iter()
            .flat_map(|list| package.elements(list))
            .flat_map(|argument| named(&argument)),
    );
    problems
}

/// Finds a variable of the transport that the package doesn't define.
fn package_variables(package: &Part<'_>) -> Option<Problem> {
    let inputs = ["runtimeArguments", "packageArguments", "environmentVariables"];
    let inputs: Vec<Part<'_>> = inputs.iter().flat_map(|list| package.elements(list)).collect();
    let names = inputs
        .iter()
        .flat_map(|input| [input.text("name"), input.text("valueHint")]);
    let known: Vec<&str> = names.flatten().collect();
    let transport = package.member("transport")?;
    transport.check("url", |url| {
        undefined(url, &known, "the arguments and environment variables of the package")
    })
}

/// Finds a variable of an address that isn't known.
fn undefined(url: &str, known: &[&str], place: &str) -> Option<String> {
    let variables = url.split('{').skip(1).filter_map(|part| part.split_once('}'));
    let mut variables = variables.map(|(name, _)| name);
    let unknown = variables.find(|name| !known.contains(name))?;
    Some(format!(
        "nothing defines `{unknown}`; the variables of an address come from {place}"
    ))
}

/// Checks a named argument.
fn named(argument: &Part<'_>) -> Vec<Problem> {
    let Some(name) = argument.text("name").filter(|_| argument.text("type") == Some("named")) else {
        return Vec::new();
    };
    let wrong_name = |name: &str| {
        let has_value = name.contains(['<', '>', ' ', '$']);
        has_value.then(|| "the name of an argument can't contain its value or a description".to_owned())
    };
    let repeats_name = |value: &str| {
        (!name.is_empty() && value.starts_with(name))
            .then(|| "the value starts with the name of the argument".to_owned())
    };
    let problems = [
        argument.check("name", wrong_name),
        argument.check("value", repeats_name),
        argument.check("default", repeats_name),
    ];
    problems.into_iter().flatten().collect()
}
