//! Members whose value is shared by many texts, and decoded only in the first of them.

use crate::decode::Decode;
use crate::error::Decoded;
use crate::object::Field;
use crate::reader::Reader;
use crate::shared::SharedJson;

/// A type whose values can be shared.
trait Share: Decode + Clone + Send + Sync + 'static {}

impl<T: Decode + Clone + Send + Sync + 'static> Share for T {}

/// The variable that a preset member is read into. Its value can come from a [`SharedJson`].
#[derive(Debug)]
pub struct Preset<T>(pub Option<T>);

#[allow(private_bounds, reason = "it only gathers bounds")]
impl<T: Share> Field for Preset<T> {
    fn is_present(&self) -> bool {
        self.0.is_some()
    }

    fn holds_null(&self) -> bool {
        T::HOLDS_NULL
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Decoded<()> {
        self.0 = Some(match reader.shared_value() {
            Some(shared) => decode_shared(shared, reader)?,
            None => reader.decode()?,
        });
        Ok(())
    }
}

/// Decodes the next value of the reader, which is the shared one.
fn decode_shared<T: Share>(shared: &SharedJson, reader: &mut Reader<'_>) -> Decoded<T> {
    if let Some((value, cost)) = shared.decoded::<T>() {
        reader.go_past(shared.text().len() - shared.start(), cost)?;
        return Ok(value.clone());
    }
    let before = reader.budget();
    let value: T = reader.decode()?;
    shared.keep(&value, before - reader.budget());
    Ok(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::KnownJson;

    /// A number that counts how often it is decoded.
    #[derive(Debug, Clone, PartialEq)]
    struct Noted(i64);

    thread_local! {
        static DECODED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    impl Decode for Noted {
        fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
            DECODED.with(|decoded| decoded.set(decoded.get() + 1));
            reader.integer().map(Self)
        }
    }

    fn read<T: Share>(json: &KnownJson) -> Decoded<(Vec<i64>, Option<T>)> {
        let (mut others, mut preset) = (Vec::new(), Preset(None));
        let mut reader = Reader::of_known(json);
        reader.members(|reader, name| match &*name {
            "preset" => preset.read(reader),
            _ => reader.integer().map(|other| others.push(other)),
        })?;
        reader.finish()?;
        Ok((others, preset.0))
    }

    #[test]
    fn a_value_shared_by_texts_is_decoded_once() {
        let shared = Arc::new(SharedJson::new(r#""before":1,"preset":7"#.to_owned(), 20));
        for (first, last) in [("", ""), (r#""a":2,"#, r#","b":3"#), (r#""c" : 4 , "#, " ")] {
            let mut json = KnownJson::with_capacity(0);
            json.push("{");
            json.push(first);
            json.push_shared(&shared);
            json.push(last);
            json.push("}");
            let plain = KnownJson::from(json.text().to_owned());
            assert_eq!(read::<Noted>(&json).unwrap(), read(&plain).unwrap());
            // As another type, it is decoded as usual.
            assert_eq!(read::<i64>(&json).unwrap().1, Some(7));
        }
        // Once for all shared texts, and once for each text that doesn't share it.
        assert_eq!(DECODED.with(std::cell::Cell::get), 1 + 3);
    }

    #[test]
    fn an_error_of_a_shared_value_is_returned_and_not_cached() {
        let shared = Arc::new(SharedJson::new(r#""preset":"x""#.to_owned(), 9));
        let mut json = KnownJson::with_capacity(0);
        json.push("{");
        json.push_shared(&shared);
        json.push("}");
        for _ in 0..2 {
            let error = read::<i64>(&json).unwrap_err();
            assert_eq!(
                error.to_string(),
                read::<i64>(&KnownJson::from(json.text().to_owned()))
                    .unwrap_err()
                    .to_string()
            );
        }
        assert_eq!(read::<String>(&json).unwrap().1.as_deref(), Some("x"));
    }
}
