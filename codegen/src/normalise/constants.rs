//! The shapes of constants and enumerations.

use serde_json::Value;

use super::{Node, Scalar, Shape, Strings};

/// The shape of `const`.
pub(super) fn constant_shape(constant: &Value) -> Shape {
    match constant {
        Value::Null => Shape::Null,
        Value::Bool(value) => Shape::Constant(Scalar::Boolean(*value)),
        Value::String(text) => Shape::Constant(Scalar::String(text.clone())),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Shape::Constant(Scalar::Integer(integer)),
            None => Shape::Number,
        },
        Value::Array(_) | Value::Object(_) => Shape::Any,
    }
}

/// The shape of `enum`.
pub(super) fn enumeration(values: &[Value], ordered: bool, pointer: &str) -> Shape {
    let nullable = values.contains(&Value::Null);
    let rest: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    let shape = match rest.as_slice() {
        [] => return if nullable { Shape::Null } else { Shape::Any },
        [single] if !nullable => return constant_shape(single),
        _ if rest.iter().all(|value| value.is_string()) => {
            let mut strings: Vec<String> = Vec::new();
            for value in rest.iter().filter_map(|value| value.as_str()) {
                if !strings.iter().any(|other| other == value) {
                    strings.push(value.to_owned());
                }
            }
            Shape::Strings(Strings {
                values: strings,
                ordered,
            })
        }
        _ if rest.iter().all(|value| value.is_boolean()) => Shape::Boolean,
        _ if rest.iter().all(|value| value.is_i64()) => Shape::Integer,
        _ if rest.iter().all(|value| value.is_number()) => Shape::Number,
        _ => return Shape::Any,
    };
    if !nullable {
        return shape;
    }
    Shape::Nullable(Box::new(Node::at(pointer, shape)))
}
