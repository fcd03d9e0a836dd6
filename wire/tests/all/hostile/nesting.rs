//! Values that are nested too deep.

use mcp_wire::{DecodeErrorKind, MAX_DEPTH, Message, RawJson, UnknownMethod, from_str};

use super::refusal;
use super::shapes::{Node, Shape};

/// Returns `inner` in `levels` levels of nesting.
fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    [&open.repeat(levels), inner, &close.repeat(levels)].concat()
}

fn too_deep(levels: usize, error: &mcp_wire::DecodeError) {
    assert_eq!(error.kind(), DecodeErrorKind::TooDeep, "{levels} levels: {error}");
}

#[test]
fn values_are_decoded_up_to_the_maximum_depth() {
    type AnyMessage = Message<UnknownMethod, UnknownMethod>;
    // The name of a place, a function that writes JSON there, and the number of levels around it.
    type Around = (&'static str, fn(&str) -> String, usize);
    let message = |json: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{json}}}"#);
    let declared: Around = ("open", |json| format!(r#"{{"kind":"node","open":{json}}}"#), 1);
    let undeclared: Around = ("x", |json| format!(r#"{{"kind":"node","x":{json}}}"#), 1);
    let constant: Around = ("kind", |json| format!(r#"{{"kind":{json}}}"#), 1);
    let shape: Around = (
        "shapes",
        |json| format!(r#"{{"kind":"node","shapes":[{{"a":{json}}}]}}"#),
        3,
    );
    for levels in [127, 128, 129, 200, 100_000] {
        let arrays = |around: usize| nested("[", "", "]", levels - around);
        for (place, within, around) in [declared, undeclared, constant, shape] {
            let decoded = from_str::<Node>(&within(&arrays(around)));
            match decoded {
                Ok(_) => assert!(levels <= MAX_DEPTH, "{levels} levels at {place}"),
                Err(error) => {
                    assert!(levels > MAX_DEPTH, "{levels} levels at {place}: {error}");
                    too_deep(levels, &error);
                }
            }
        }
        let objects = nested(r#"{"a":"#, "1", "}", levels - 1);
        match from_str::<AnyMessage>(&message(&objects)) {
            Ok(_) => assert!(levels <= MAX_DEPTH, "{levels} levels of parameters"),
            Err(error) => too_deep(levels, &error),
        }
        assert_eq!(
            from_str::<RawJson>(&arrays(0)).is_ok(),
            levels <= MAX_DEPTH,
            "{levels} levels alone"
        );
    }
}

#[test]
fn recursive_types_are_decoded_up_to_the_maximum_depth() {
    for levels in [127, 128, 129, 200, 100_000] {
        let json = nested(r#"{"kind":"node","child":"#, r#"{"kind":"node"}"#, "}", levels - 1);
        let decoded = from_str::<Node>(&json);
        assert_eq!(decoded.is_ok(), levels <= MAX_DEPTH, "{levels} levels");
        if let Err(error) = decoded {
            too_deep(levels, &error);
            assert_eq!(error.path().segments().len(), MAX_DEPTH);
        }
    }
}

#[test]
fn nesting_that_is_never_closed_is_an_error() {
    for open in ["[", r#"{"a":"#, r#"{"kind":"node","child":"#, r#"{"type":["#] {
        let json = open.repeat(100_000);
        refusal::<RawJson>(&json);
        refusal::<Node>(&json);
        refusal::<Shape>(&json);
        refusal::<Vec<RawJson>>(&json);
    }
}

#[test]
fn brackets_within_strings_are_not_nesting() {
    let brackets = "[{\\\"".repeat(1000);
    for json in [
        format!(r#"{{"kind":"node","x":"{brackets}"}}"#),
        format!(r#"{{"kind":"node","open":["{brackets}"]}}"#),
    ] {
        assert!(from_str::<Node>(&json).is_ok());
    }
}
