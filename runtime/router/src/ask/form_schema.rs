//! The forms that are derived from types.

use std::any::type_name;

use mcp_adapters::hub;
use mcp_wire::from_str;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::member_order::{member_order, sort_by_member};
use crate::schema;

/// The keywords that a field of a form can have in the hub, besides its type.
const STRING: &[&str] = &["title", "description", "default", "format", "minLength", "maxLength"];
const NUMBER: &[&str] = &["title", "description", "default", "minimum", "maximum"];
const OTHER: &[&str] = &["title", "description", "default"];
const LIST: &[&str] = &["title", "description", "default", "minItems", "maxItems"];

/// The formats of string fields.
const FORMATS: [&str; 4] = ["date", "date-time", "email", "uri"];

/// Returns the form whose fields are the members of `T`. The error describes the part of `T` that no form can show.
pub fn form_schema<T: DeserializeOwned + JsonSchema>() -> Result<hub::RequestedSchema, String> {
    let schema = schema::inline::<T>();
    // The schema of a struct without members has no properties, and neither has that of a map, which allows others.
    let is_map = schema
        .get("additionalProperties")
        .is_some_and(|others| *others != false);
    let is_struct = schema["type"] == "object" && (schema.get("properties").is_some() || !is_map);
    if !is_struct {
        let name = type_name::<T>();
        return Err(format!("`{name}` isn't a struct, so a form can't show it"));
    }
    let mut fields = Map::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let field = field(member).ok_or_else(|| {
            let of = type_name::<T>();
            format!(
                "no form can show the member `{name}` of `{of}` (its schema is {member}): fields are strings, numbers, Booleans, enums \
                 of strings, and lists of such enums"
            )
        })?;
        fields.insert(name.clone(), field);
    }
    let mut form = json!({"type": "object", "properties": fields});
    if let Some(required) = schema.get("required") {
        form["required"] = required.clone();
    }
    let form = from_str::<hub::RequestedSchema>(&form.to_string());
    let mut form = form.map_err(|error| format!("no form can show `{}`: {error}", type_name::<T>()))?;
    let mut fields: Vec<_> = form.properties.into_iter().collect();
    sort_by_member(&mut fields, member_order::<T>(), |(name, _)| name);
    form.properties = fields.into_iter().collect();
    Ok(form)
}

/// The field for a member; `None` if no field can show it.
fn field(member: &Value) -> Option<Value> {
    if let Some(choices) = Choices::of(member) {
        return Some(choices.single(member));
    }
    let kind = member["type"].as_str()?;
    let keywords = match kind {
        "string" => STRING,
        "number" | "integer" => NUMBER,
        "boolean" => OTHER,
        "array" => return Some(Choices::of(&member["items"])?.several(member)),
        _ => return None,
    };
    let mut field = kept(member, keywords);
    if !field
        .get("format")
        .is_some_and(|format| FORMATS.iter().any(|known| format == known))
    {
        field.remove("format");
    }
    field.insert("type".to_owned(), json!(kind));
    Some(field.into())
}

/// The keywords among these that a schema has, with their values.
fn kept(schema: &Value, keywords: &[&str]) -> Map<String, Value> {
    let members = keywords
        .iter()
        .filter_map(|keyword| Some(((*keyword).to_owned(), schema.get(keyword)?.clone())));
    members.collect()
}

/// The strings that a user can choose from, with their titles.
struct Choices(Vec<(String, Option<String>)>);

impl Choices {
    /// The choices that an enum of strings has; `None` for another schema.
    fn of(schema: &Value) -> Option<Self> {
        if let Some(values) = schema["enum"].as_array() {
            let values = values.iter().map(|value| Some((value.as_str()?.to_owned(), None)));
            return values.collect::<Option<_>>().map(Self);
        }
        if let Some(value) = schema["const"].as_str() {
            let title = schema["title"].as_str().or_else(|| schema["description"].as_str());
            return Some(Self(vec![(value.to_owned(), title.map(str::to_owned))]));
        }
        let alternatives = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())?;
        let choices = alternatives.iter().map(|alternative| Some(Self::of(alternative)?.0));
        let choices = choices.collect::<Option<Vec<_>>>()?.concat();
        (!choices.is_empty()).then_some(Self(choices))
    }

    fn are_titled(&self) -> bool {
        self.0.iter().any(|(_, title)| title.is_some())
    }

    fn values(&self) -> Vec<&str> {
        self.0.iter().map(|(value, _)| value.as_str()).collect()
    }

    fn titled(&self) -> Vec<Value> {
        let titled = self
            .0
            .iter()
            .map(|(value, title)| json!({"const": value, "title": title.as_ref().unwrap_or(value)}));
        titled.collect()
    }

    /// A field in which the user chooses one string.
    fn single(&self, member: &Value) -> Value {
        let mut field = kept(member, OTHER);
        field.insert("type".to_owned(), json!("string"));
        match self.are_titled() {
            true => field.insert("oneOf".to_owned(), json!(self.titled())),
            false => field.insert("enum".to_owned(), json!(self.values())),
        };
        field.into()
    }

    /// A field in which the user chooses several strings.
    fn several(&self, member: &Value) -> Value {
        let mut field = kept(member, LIST);
        let items = match self.are_titled() {
            true => json!({"anyOf": self.titled()}),
            false => json!({"type": "string", "enum": self.values()}),
        };
        field.extend([("type".to_owned(), json!("array")), ("items".to_owned(), items)]);
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only the fields matter")]
    struct Trip {
        to: String,
        from: String,
        day: Option<String>,
    }

    #[test]
    fn fields_are_in_the_order_of_the_struct_members() {
        let form = form_schema::<Trip>().unwrap();
        assert_eq!(form.properties.keys().collect::<Vec<_>>(), ["to", "from", "day"]);
    }
}
