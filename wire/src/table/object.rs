//! The table of an object's members.

/// Implements the traits of a JSON object for a struct: [`Decode`](crate::Decode), [`Encode`](crate::Encode),
/// [`Object`](crate::Object), `serde`'s traits, [`Validate`](crate::Validate), a constructor and setters.
///
/// A row has the name of a member in JSON, its field, and the type of the argument that the field is made from. There
/// are five kinds of members, and each section is optional:
///
/// - `constant`: a required member with a fixed value. The struct has no field for it.
/// - `implied`: an optional member with a fixed value. A private field of type `bool` is `true` if it is present. One
///   function reads the field, and another sets it.
/// - `required`: a required member. `new` takes one argument for each.
/// - `preset`: a required member for which `new` takes no argument. It has the value of the row, and a function sets
///   another.
/// - `optional`: an optional member. The field is an `Option`, and a function sets it.
///
/// The field `extra` is an [`Extra`](crate::Extra) with the undeclared members. A struct without required members
/// derives `Default` and has no `new`. If it has preset members, the table implements `Default`.
///
/// ```
/// use mcp_wire::{Extra, RawObject, Schema, object};
///
/// static SCHEMA: Schema = Schema::new("2099-01-01", r#"{"$defs": {"Tool": {"type": "object"}}}"#);
///
/// #[derive(Debug, Clone, PartialEq)]
/// pub struct Tool {
///     pub name: String,
///     pub input_schema: RawObject,
///     pub limit: i64,
///     pub title: Option<String>,
///     pub extra: Extra,
/// }
///
/// object! {
///     Tool: SCHEMA["#/$defs/Tool"]
///     constant {
///         "type" => type_: "tool",
///     }
///     required {
///         "name" => name: impl Into<String>,
///         "inputSchema" => input_schema: impl Into<RawObject>,
///     }
///     preset {
///         "limit" => limit, with_limit: i64 = 10,
///     }
///     optional {
///         "title" => title, with_title: impl Into<String>,
///     }
/// }
///
/// let tool = Tool::new("draw", RawObject::default()).with_title("Draw a chart");
/// let json = r#"{"type":"tool","name":"draw","inputSchema":{},"limit":10,"title":"Draw a chart"}"#;
/// assert_eq!(serde_json::to_string(&tool)?, json);
/// assert_eq!(mcp_wire::from_str::<Tool>(json)?, tool);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! object {
    (
        $type:ident: $schema:ident[$pointer:literal]
        $(constant { $($constant:literal => $seen:ident: $value:literal,)+ })?
        $(implied { $($implied:literal => $flag:ident, $has:ident, $with_flag:ident: $implied_value:literal,)+ })?
        $(required { $($required:literal => $field:ident: $argument:ty,)+ })?
        $(preset { $($(#[$of_preset:meta])* $preset:literal => $set:ident, $with_set:ident: $set_argument:ty = $value_set:expr,)+ })?
        $(optional { $($(#[$of_optional:meta])* $optional:literal => $option:ident, $with:ident: $option_argument:ty,)+ })?
    ) => {
        impl $crate::Decode for $type {
            #[inline]
            fn decode(reader: &mut $crate::Reader<'_>) -> $crate::Decoded<Self> {
                $($(let mut $seen = false;)+)?
                $($(let mut $flag = false;)+)?
                $($(let mut $field = None;)+)?
                $($(let mut $set = $crate::Preset(None);)+)?
                $($(let mut $option = None;)+)?
                let extra = reader.object(&mut [
                    $($($crate::Member::constant($constant, $value, &mut $seen),)+)?
                    $($($crate::Member::constant($implied, $implied_value, &mut $flag),)+)?
                    $($($crate::Member::required($required, &mut $field),)+)?
                    $($($crate::Member::preset($preset, &mut $set),)+)?
                    $($($crate::Member::optional($optional, &mut $option),)+)?
                ])?;
                $($(if !$seen {
                    return Err(reader.missing($constant));
                })+)?
                $($(let Some($field) = $field else {
                    return Err(reader.missing($required));
                };)+)?
                $($(let Some($set) = $set.0 else {
                    return Err(reader.missing($preset));
                };)+)?
                Ok(Self {
                    $($($flag,)+)?
                    $($($field,)+)?
                    $($($set,)+)?
                    $($($option,)+)?
                    extra,
                })
            }
        }

        impl $crate::Object for $type {
            #[inline]
            fn extra(&self) -> &$crate::Extra {
                &self.extra
            }

            fn write_members<M: $crate::ObjectWriter>(
                &self,
                members: &mut $crate::MemberWriter<'_, M>,
            ) -> ::std::result::Result<(), M::Error> {
                let _ = &members;
                $($(members.write_constant($crate::name!($constant), $value)?;)+)?
                $($(if self.$flag {
                    members.write_constant($crate::name!($implied), $implied_value)?;
                })+)?
                $($(members.write($crate::name!($required), &self.$field)?;)+)?
                $($(members.write($crate::name!($preset), &self.$set)?;)+)?
                $($(members.write_optional($crate::name!($optional), &self.$option)?;)+)?
                Ok(())
            }
        }

        $crate::object! {
            @new $type
            [$($($field: $argument,)+)?]
            [$($($set: $value_set,)+)?]
            [$($($flag,)+)?]
            [$($($option,)+)?]
        }

        $(impl $type {
            $(
                #[doc = concat!("Whether `", $implied, "` is present.")]
                #[must_use]
                #[inline]
                pub fn $has(&self) -> bool {
                    self.$flag
                }

                #[doc = concat!("Adds `", $implied, "`.")]
                #[must_use]
                #[inline]
                pub fn $with_flag(mut self) -> Self {
                    self.$flag = true;
                    self
                }
            )+
        })?

        $(impl $type {
            $(
                #[doc = concat!("Sets [`", $preset, "`](Self::", stringify!($set), ").")]
                $(#[$of_preset])*
                #[must_use]
                #[inline]
                pub fn $with_set(mut self, $set: $set_argument) -> Self {
                    self.$set = $set.into();
                    self
                }
            )+
        })?

        $(impl $type {
            $(
                #[doc = concat!("Sets [`", $optional, "`](Self::", stringify!($option), ").")]
                $(#[$of_optional])*
                #[must_use]
                #[inline]
                pub fn $with(mut self, $option: $option_argument) -> Self {
                    self.$option = Some($option.into());
                    self
                }
            )+
        })?

        $crate::serde_object!($type);
        $crate::defined_at!($type, $schema, $pointer);
    };
    (@new $type:ident [] [] [$($flag:ident,)*] [$($option:ident,)*]) => {};
    (@new $type:ident [] [$($set:ident: $value:expr,)+] [$($flag:ident,)*] [$($option:ident,)*]) => {
        impl ::std::default::Default for $type {
            #[inline]
            fn default() -> Self {
                Self {
                    $($set: $value.into(),)+
                    $($flag: false,)*
                    $($option: None,)*
                    extra: $crate::Extra::new(),
                }
            }
        }
    };
    (
        @new $type:ident [$($field:ident: $argument:ty,)+] [$($set:ident: $value:expr,)*]
        [$($flag:ident,)*] [$($option:ident,)*]
    ) => {
        impl $type {
            #[doc = concat!(
                "`", stringify!($type), "::new(", stringify!($($field),+), ")` creates a value from its required members, \
                 in this order. The others are absent or preset."
            )]
            #[must_use]
            #[inline]
            pub fn new($($field: $argument),+) -> Self {
                Self {
                    $($field: $field.into(),)+
                    $($set: $value.into(),)*
                    $($flag: false,)*
                    $($option: None,)*
                    extra: $crate::Extra::new(),
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::{Extra, Map, Number, RawObject, Schema, Validate, from_str};

    static SCHEMA: Schema = Schema::new(
        "2099-01-01",
        r##"{"$defs": {
            "Point": {"type": "object", "required": ["kind", "x"], "properties": {
                "kind": {"const": "point"}, "unit": {"const": "m"}, "x": {"type": "number"}, "size": {}, "next": {"$ref": "#/$defs/Point"}
            }},
            "Nothing": {"type": "object"}
        }}"##,
    );

    #[derive(Debug, Clone, PartialEq)]
    struct Point {
        unit: bool,
        x: Number,
        size: i64,
        next: Option<Box<Point>>,
        members: Option<Map<i64>>,
        extra: Extra,
    }

    crate::object! {
        Point: SCHEMA["#/$defs/Point"]
        constant {
            "kind" => kind: "point",
        }
        implied {
            "unit" => unit, has_unit, with_unit: "m",
        }
        required {
            "x" => x: impl Into<Number>,
        }
        preset {
            "size" => size, with_size: i64 = 1,
        }
        optional {
            "next" => next, with_next: Point,
            "members" => members, with_members: Map<i64>,
        }
    }

    #[derive(Debug, Clone, PartialEq)]
    struct Preset {
        label: String,
        on: bool,
        extra: Extra,
    }

    crate::object! {
        Preset: SCHEMA["#/$defs/Nothing"]
        preset {
            "label" => label, with_label: impl Into<String> = "none",
            "on" => on, with_on: bool = true,
        }
    }

    #[derive(Debug, Clone, PartialEq, Default)]
    struct Nothing {
        extra: Extra,
    }

    crate::object! {
        Nothing: SCHEMA["#/$defs/Nothing"]
    }

    #[test]
    fn the_members_of_every_section_are_read_and_written() {
        let json = r#"{"kind":"point","unit":"m","x":1.5,"size":3,"next":{"kind":"point","x":2,"size":1},"members":{"a":1},"vendor":null}"#;
        let point: Point = from_str(json).unwrap();
        assert!(point.has_unit());
        assert_eq!(serde_json::to_string(&point).unwrap(), json);
        let next = Point::new(2);
        let members = Map::from([("a", 1)]);
        let mut same = Point::new(1.5)
            .with_unit()
            .with_size(3)
            .with_next(next)
            .with_members(members);
        same.extra.insert("vendor", serde_json::Value::Null);
        assert_eq!(point, same);
        point.validate().unwrap();
    }

    #[test]
    fn an_absent_implied_member_stays_absent() {
        let json = r#"{"kind":"point","x":1,"size":1}"#;
        let point: Point = from_str(json).unwrap();
        assert!(!point.has_unit());
        assert_eq!(serde_json::to_string(&point).unwrap(), json);
    }

    #[test]
    fn an_absent_constant_or_required_member_is_an_error() {
        let error = from_str::<Point>(r#"{"x":1}"#).unwrap_err();
        assert_eq!(error.path().to_string(), "kind");
        let error = from_str::<Point>(r#"{"kind":"point"}"#).unwrap_err();
        assert_eq!(error.path().to_string(), "x");
    }

    #[test]
    fn a_preset_member_is_written_by_constructors_and_required_by_decoding() {
        let preset = Preset::default();
        assert_eq!(serde_json::to_string(&preset).unwrap(), r#"{"label":"none","on":true}"#);
        let other = preset.with_label("a").with_on(false);
        assert_eq!(serde_json::to_string(&other).unwrap(), r#"{"label":"a","on":false}"#);
        let error = from_str::<Preset>(r#"{"label":"a"}"#).unwrap_err();
        assert_eq!(error.path().to_string(), "on");
    }

    #[test]
    fn an_object_without_declared_members_keeps_all_members() {
        let nothing: Nothing = from_str(r#"{"a":1}"#).unwrap();
        assert_eq!(serde_json::to_string(&nothing).unwrap(), r#"{"a":1}"#);
        assert_eq!(
            RawObject::from(serde_json::json!({})).text(),
            serde_json::to_string(&Nothing::default()).unwrap()
        );
    }
}
