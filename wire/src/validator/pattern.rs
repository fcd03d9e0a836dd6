//! `pattern` and `patternProperties`, where the feature `pattern` compiles them in.

/// An ECMAScript regular expression.
///
/// It backtracks, as that language's features require: what one match costs is up to the schema's author, who has to
/// avoid patterns such as `^(a+)+$`. It takes no stack however long the text is.
#[cfg(feature = "pattern")]
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    regex: regress::Regex,
}

#[cfg(feature = "pattern")]
impl Pattern {
    /// Compiles `source`, and says why not if it can't be.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        // Code points are what both dialects recommend, but patterns are written that only the lenient syntax accepts.
        let regex = regress::Regex::with_flags(source, "u")
            .or_else(|strict| regress::Regex::new(source).map_err(|_| strict))
            .map_err(|error| format!("not a regular expression: {error}"))?;
        Ok(Self {
            source: source.to_owned(),
            regex,
        })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.find(text).is_some()
    }
}

/// No regular expression: without the feature, none can be made.
#[cfg(not(feature = "pattern"))]
#[derive(Debug)]
pub(super) enum Pattern {}

#[cfg(not(feature = "pattern"))]
impl Pattern {
    /// Says that the feature is missing.
    pub(super) fn new(_source: &str) -> Result<Self, String> {
        Err("a regular expression needs mcp-wire's feature `pattern`".to_owned())
    }

    pub(super) fn source(&self) -> &str {
        match *self {}
    }

    pub(super) fn matches(&self, _text: &str) -> bool {
        match *self {}
    }
}
