//! Functions that list tools, prompts and resources in addition to the routes that were added singly.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_core::internal::internal_error;

use super::entry::Entry;
use super::function::BoxedFunction;
use super::prompt::PromptRoute;
use super::scope::Scope;
use super::tool::ToolRoute;

/// The listing functions, in the order in which they were added.
#[derive(Clone, Default)]
pub(super) struct Sources {
    pub(super) tools: List<hub::Tool, BoxedFunction<hub::AnyCallToolResult>>,
    pub(super) prompts: List<hub::Prompt, BoxedFunction<hub::GetPromptResult>>,
    /// Templates read the resources that these list.
    pub(super) resources: List<hub::Resource, ()>,
}

pub(super) type List<T, R> = Vec<Arc<Source<T, R>>>;

impl Sources {
    /// Adds the functions of another router. The names that they list get a prefix.
    pub(super) fn merge(&mut self, other: &Self, prefix: &str, scope: &Scope) {
        self.tools.extend(nested(&other.tools, prefix, scope));
        self.prompts.extend(nested(&other.prompts, prefix, scope));
        self.resources.extend(nested(&other.resources, prefix, scope));
    }

    /// Whether a function may send log messages.
    pub(super) fn may_log(&self) -> bool {
        let tools = self.tools.iter().flat_map(|it| [&it.list.signature, &it.run.signature]);
        let prompts = self
            .prompts
            .iter()
            .flat_map(|it| [&it.list.signature, &it.run.signature]);
        let resources = self.resources.iter().map(|it| &it.list.signature);
        let mut all = tools.chain(prompts).chain(resources);
        all.any(|signature| signature.may_log())
    }
}

fn nested<T: Entry, R: Clone>(sources: &[Arc<Source<T, R>>], prefix: &str, scope: &Scope) -> List<T, R> {
    let nest = |source: &Arc<Source<T, R>>| {
        let mut source = Source::clone(source);
        source.prefix.insert_str(0, prefix);
        source.list.scope.nest(prefix, scope);
        Arc::new(source)
    };
    sources.iter().map(nest).collect()
}

/// A listing function, and the function that is called for the listed tools or prompts.
#[derive(Clone)]
pub(super) struct Source<T, R> {
    pub(super) list: BoxedFunction<Vec<T>>,
    pub(super) run: R,
    /// The prefix that nesting has added to its names.
    pub(super) prefix: String,
}

impl<T, R: 'static> Source<T, BoxedFunction<R>> {
    /// The function for the listed tool or prompt with a name.
    fn function(&self, name: &str) -> BoxedFunction<R> {
        let mut function = self.run.named(name.strip_prefix(&self.prefix).unwrap_or(name));
        function.scope = self.list.scope.clone();
        function
    }
}

impl Source<hub::Tool, BoxedFunction<hub::AnyCallToolResult>> {
    /// Makes the route of a listed tool.
    pub(super) fn route(&self, tool: hub::Tool) -> Result<ToolRoute, ErrorObject> {
        let (name, function) = (tool.name.clone(), self.function(&tool.name));
        ToolRoute::listed(tool, function).map_err(|error| {
            tracing::error!(name, %error, "a tool that a function lists can't be called");
            internal_error(format!("the tool {name:?} can't be called: {error}"))
        })
    }
}

impl Source<hub::Prompt, BoxedFunction<hub::GetPromptResult>> {
    /// Makes the route of a listed prompt.
    pub(super) fn route(&self, prompt: hub::Prompt) -> PromptRoute {
        let function = self.function(&prompt.name);
        PromptRoute::listed(prompt, function)
    }
}
