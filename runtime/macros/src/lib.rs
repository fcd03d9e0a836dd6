//! The attribute [`macro@tool`].

use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

#[doc = include_str!("tool.md")]
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, function: TokenStream) -> TokenStream {
    let route = settings(arguments).and_then(|settings| route(function.clone(), &settings));
    let route = route.unwrap_or_else(|reason| format!("::core::compile_error!({reason:?});"));
    let route: TokenStream = route.parse().unwrap_or_default();
    function.into_iter().chain(route).collect()
}

/// Returns the method calls on the route for the arguments of the attribute.
fn settings(arguments: TokenStream) -> Result<String, String> {
    let tokens = ungrouped(arguments);
    let arguments = tokens.split(is_comma).filter(|argument| !argument.is_empty());
    arguments.map(setting).collect()
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')
}

fn setting(argument: &[TokenTree]) -> Result<String, String> {
    let texts: Vec<String> = argument.iter().map(ToString::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match (&texts[..], argument.last()) {
        ([name @ ("read_only" | "idempotent")], _) => Ok(format!(".{name}()")),
        ([name @ ("destructive" | "open_world"), "=", value @ ("true" | "false")], _)
        | ([name @ "title", "=", value], Some(TokenTree::Literal(_))) => Ok(format!(".{name}({value})")),
        _ => Err(format!(
            "`tool` doesn't take `{}`: it takes `title = \"…\"`, `read_only`, `idempotent`, and `destructive` and `open_world` with \
             `= true` or `= false`; `mcp_runtime::router::tool` makes a tool with another name",
            texts.join(" ")
        )),
    }
}

/// Returns the code of the type whose function `tool` returns the route.
fn route(function: TokenStream, settings: &str) -> Result<String, String> {
    let Signature {
        visibility,
        documentation,
        name,
    } = Signature::read(function)?;
    if documentation.is_empty() {
        return Err(format!("the tool `{name}` needs a doc comment: models read it"));
    }
    let documentation = documentation.join(", ");
    let shown = name.trim_start_matches("r#");
    Ok(format!(
        "#[doc(hidden)]
        #[allow(non_camel_case_types)]
        {visibility} struct {name} {{}}
        impl {name} {{
            /// The function as a tool.
            #[allow(deprecated)]
            {visibility} fn tool() -> ::mcp_runtime::router::ToolRoute {{
                let description = ::mcp_runtime::router::description(&[{documentation}]);
                ::mcp_runtime::router::tool({shown:?}, description, {name}){settings}
            }}
        }}"
    ))
}

/// The parts of a function that are declared before its parameters.
struct Signature {
    visibility: String,
    /// The expressions of its doc comment, one per line.
    documentation: Vec<String>,
    name: String,
}

impl Signature {
    fn read(function: TokenStream) -> Result<Self, String> {
        let (mut visibility, mut documentation) = (String::new(), Vec::new());
        let mut tokens = ungrouped(function).into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                    documentation.extend(doc(group.stream()));
                }
                TokenTree::Ident(word) if is(&word, "pub") => {
                    visibility = word.to_string();
                    if let Some(TokenTree::Group(group)) = tokens.peek()
                        && group.delimiter() == Delimiter::Parenthesis
                    {
                        visibility.push_str(&group.to_string());
                    }
                }
                TokenTree::Ident(word) if is(&word, "fn") => {
                    let Some(TokenTree::Ident(name)) = tokens.next() else {
                        break;
                    };
                    let name = name.to_string();
                    check_parameters(&name, tokens)?;
                    return Ok(Self {
                        visibility,
                        documentation,
                        name,
                    });
                }
                _ => {}
            }
        }
        Err("`tool` must be on a function".to_owned())
    }
}

/// Checks what follows the name of a function, which can't be a method. Parentheses in bounds of generics aren't
/// parameters, but no bound contains `self`.
fn check_parameters(name: &str, mut tokens: impl Iterator<Item = TokenTree>) -> Result<(), String> {
    let parameters = tokens.find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
        _ => None,
    });
    let first = parameters.into_iter().flatten().take_while(|token| !is_comma(token));
    let mut words = first.take_while(|token| !matches!(token, TokenTree::Punct(colon) if colon.as_char() == ':'));
    match words.any(|token| matches!(token, TokenTree::Ident(word) if is(&word, "self"))) {
        true => Err(format!(
            "`tool` can't be on the method `{name}`: make it a function that takes `State<T>` in place of `self`, and pass the value to \
             `Router::with_state`"
        )),
        false => Ok(()),
    }
}

fn is(word: &Ident, keyword: &str) -> bool {
    word.to_string() == keyword
}

/// Returns the expression of an attribute `doc = …`: the text of a doc comment, or a macro such as `include_str`.
fn doc(attribute: TokenStream) -> Option<String> {
    let mut tokens = ungrouped(attribute).into_iter();
    let (name, equals) = (tokens.next()?, tokens.next()?);
    let is_doc = matches!(&name, TokenTree::Ident(name) if is(name, "doc"));
    let is_value = matches!(&equals, TokenTree::Punct(equals) if equals.as_char() == '=');
    let text: TokenStream = tokens.collect();
    (is_doc && is_value && !text.is_empty()).then(|| text.to_string())
}

/// Returns the tokens without the invisible groups in which `macro_rules!` encloses what it was given.
fn ungrouped(tokens: TokenStream) -> Vec<TokenTree> {
    let ungrouped = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => ungrouped(group.stream()),
        token => vec![token],
    });
    ungrouped.collect()
}
