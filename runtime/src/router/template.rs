//! Resource templates.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use uri_template_ex::UriTemplate;

use super::call::{Call, Function};
use super::completion::{CompletionRequest, Completions};
use super::error::RouteError;
use super::resource::IntoContents;

/// The values of a template's variables in a URI, decoded.
pub type Variables = BTreeMap<String, String>;

/// A resource template, and the function that reads its resources; [`resource_template()`] makes one.
#[derive(Clone)]
pub struct TemplateRoute {
    pub(super) template: hub::ResourceTemplate,
    pub(super) completions: Completions,
    pattern: UriTemplate,
    read: Function<(String, Variables), hub::ReadResourceResult>,
}

/// A resource template from a function that reads the resource with a given URI.
///
/// The template is one of [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570), level 2: `{name}` stands for characters that
/// need no escape in a URI, `{+name}` also for reserved ones such as `/`, and `{#name}` for a fragment. If several
/// templates match a URI, the first in alphabetical order reads it.
///
/// # Errors
/// [`RouteError::Template`] when the text is not such a template.
pub fn resource_template<R, F>(
    template: hub::ResourceTemplate,
    read: impl Fn(String, Variables, Call) -> F + Send + Sync + 'static,
) -> Result<TemplateRoute, RouteError>
where
    R: IntoContents,
    F: Future<Output = Result<R, ErrorObject>> + Send + 'static,
{
    let pattern = parse(&template.uri_template).map_err(|what| RouteError::Template {
        template: template.uri_template.clone(),
        what,
    })?;
    let mime_type = template.mime_type.clone();
    let read: Function<(String, Variables), _> = Arc::new(move |(uri, variables), call| {
        let reading = read(uri.clone(), variables, call);
        let mime_type = mime_type.clone();
        Box::pin(async move {
            let contents = reading.await?.into_contents(&uri, mime_type.as_deref());
            Ok(hub::ReadResourceResult::new(contents))
        })
    });
    Ok(TemplateRoute {
        template,
        completions: Completions::default(),
        pattern,
        read,
    })
}

fn parse(template: &str) -> Result<UriTemplate, String> {
    let pattern = UriTemplate::new(template).map_err(|error| error.to_string())?;
    for name in pattern.var_names() {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(format!(
                "`{name}` is no name of a variable; operators other than `+` and `#`, lists and modifiers can't be matched"
            ));
        }
    }
    Ok(pattern)
}

impl TemplateRoute {
    /// Adds a function that completes a variable.
    #[must_use]
    pub fn complete<F>(
        mut self,
        variable: impl Into<String>,
        complete: impl Fn(CompletionRequest, Call) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completions.insert(variable, complete);
        self
    }

    /// The names of the variables.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.pattern.var_names()
    }

    /// The values of the variables in a URI; `None` if the template doesn't match it.
    pub(super) fn variables(&self, uri: &str) -> Option<Variables> {
        let captures = self.pattern.captures(uri)?;
        let mut variables = Variables::new();
        for (index, name) in self.pattern.var_names().enumerate() {
            if let Some(matched) = captures.get(index) {
                // Escapes that are not UTF-8 match nothing.
                variables.insert(name.to_owned(), matched.value().ok()?.into_owned());
            }
        }
        Some(variables)
    }

    pub(super) async fn read(
        &self,
        uri: String,
        variables: Variables,
        call: Call,
    ) -> Result<hub::ReadResourceResult, ErrorObject> {
        (self.read)((uri, variables), call).await
    }
}

impl fmt::Debug for TemplateRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.template.uri_template;
        f.debug_tuple("TemplateRoute").field(address).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(template: &str, uri: &str) -> Option<Variables> {
        let template = hub::ResourceTemplate::new("files", template);
        resource_template(template, |_, _, _| async { Ok("") })
            .unwrap()
            .variables(uri)
    }

    #[test]
    fn variables_are_decoded() {
        let found = variables("file:///{user}/{+path}", "file:///a%20b/c/d.txt").unwrap();
        assert_eq!(found["user"], "a b");
        assert_eq!(found["path"], "c/d.txt");
    }

    #[test]
    fn another_form_does_not_match() {
        assert_eq!(variables("test://{id}/data", "test://1/2/data"), None);
        assert_eq!(variables("test://{id}/data", "test://1/data?x"), None);
        assert_eq!(variables("test://{id}/data", "test://%ff/data"), None);
    }

    #[test]
    fn what_cannot_be_matched_is_refused() {
        for template in [
            "test://{?query}",
            "test://{a,b}",
            "test://{a*}",
            "test://{a:3}",
            "test://{a",
        ] {
            let template = hub::ResourceTemplate::new("files", template);
            let refused = resource_template(template, |_, _, _| async { Ok("") });
            assert!(refused.is_err(), "{refused:?}");
        }
    }
}
