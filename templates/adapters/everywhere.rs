//! Conversions of what every revision has: containers, envelopes and plain values.

use mcp_wire::{Call, Map, Message, Notice, Number, OpenJson, OpenObject, RequestId};

use crate::conversion::{Conversion, Convert, Unrepresentable, close, open};

impl<S: Convert<T>, T> Convert<Option<T>> for Option<S> {
    #[inline]
    fn convert(self, conversion: &mut Conversion) -> Result<Option<T>, Unrepresentable> {
        self.map(|value| value.convert(conversion)).transpose()
    }
}

impl<S: Convert<T>, T> Convert<Box<T>> for Box<S> {
    fn convert(self, conversion: &mut Conversion) -> Result<Box<T>, Unrepresentable> {
        (*self).convert(conversion).map(Box::new)
    }
}

impl<S: Convert<T>, T> Convert<Vec<T>> for Vec<S> {
    fn convert(self, conversion: &mut Conversion) -> Result<Vec<T>, Unrepresentable> {
        let length = self.len();
        let mut elements = self
            .into_iter()
            .enumerate()
            .map(|(index, element)| conversion.within_element(index, |conversion| element.convert(conversion)));
        // Elements that don't grow are collected into the memory that holds them.
        if size_of::<T>() <= size_of::<S>() {
            return elements.collect();
        }
        let mut converted = Vec::with_capacity(length);
        elements.try_for_each(|element| {
            converted.push(element?);
            Ok(())
        })?;
        Ok(converted)
    }
}

impl<S: Convert<T>, T> Convert<Map<T>> for Map<S> {
    fn convert(self, conversion: &mut Conversion) -> Result<Map<T>, Unrepresentable> {
        self.try_map(|key, value| conversion.within_member(key, |conversion| value.convert(conversion)))
    }
}

impl<S: Convert<T>, T> Convert<Call<T>> for Call<S> {
    fn convert(self, conversion: &mut Conversion) -> Result<Call<T>, Unrepresentable> {
        let request = self.request.convert(conversion)?;
        Ok(Call { id: self.id, request })
    }
}

impl<S: Convert<T>, T> Convert<Notice<T>> for Notice<S> {
    fn convert(self, conversion: &mut Conversion) -> Result<Notice<T>, Unrepresentable> {
        let notification = self.notification.convert(conversion)?;
        Ok(Notice { notification })
    }
}

/// The result of a response is still undecoded, and so is its conversion: it needs the method that was called.
impl<Q: Convert<Q2>, N: Convert<N2>, Q2, N2> Convert<Message<Q2, N2>> for Message<Q, N> {
    fn convert(self, conversion: &mut Conversion) -> Result<Message<Q2, N2>, Unrepresentable> {
        Ok(match self {
            Self::Request(call) => Message::Request(call.convert(conversion)?),
            Self::Notification(notice) => Message::Notification(notice.convert(conversion)?),
            Self::Response(response) => Message::Response(response),
            Self::Error(response) => Message::Error(response),
        })
    }
}

macro_rules! same_in_every_revision {
    ($($type:ty),*) => {
        $(impl Convert<$type> for $type {
            #[inline]
            fn convert(self, _: &mut Conversion) -> Result<$type, Unrepresentable> {
                Ok(self)
            }
        })*
    };
}
same_in_every_revision!(
    (),
    bool,
    i64,
    String,
    Number,
    RequestId,
    OpenJson,
    OpenObject,
    mcp_wire::UnknownMethod
);

impl Convert<Number> for i64 {
    fn convert(self, _: &mut Conversion) -> Result<Number, Unrepresentable> {
        Ok(Number::from(self))
    }
}

impl Convert<i64> for Number {
    fn convert(self, _: &mut Conversion) -> Result<i64, Unrepresentable> {
        close(&open(&self)?)
    }
}

impl Convert<OpenJson> for OpenObject {
    fn convert(self, _: &mut Conversion) -> Result<OpenJson, Unrepresentable> {
        Ok(OpenJson::from(self))
    }
}

impl Convert<OpenObject> for OpenJson {
    fn convert(self, _: &mut Conversion) -> Result<OpenObject, Unrepresentable> {
        close(&self)
    }
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(
            impl Convert<OpenJson> for $type {
                fn convert(self, _: &mut Conversion) -> Result<OpenJson, Unrepresentable> {
                    open(&self)
                }
            }

            impl Convert<$type> for OpenJson {
                fn convert(self, _: &mut Conversion) -> Result<$type, Unrepresentable> {
                    close(&self)
                }
            }

            impl Convert<Option<$type>> for $type {
                fn convert(self, _: &mut Conversion) -> Result<Option<$type>, Unrepresentable> {
                    Ok(Some(self))
                }
            }

            impl Convert<$type> for Option<$type> {
                fn convert(self, _: &mut Conversion) -> Result<$type, Unrepresentable> {
                    self.ok_or_else(Unrepresentable::no_null)
                }
            }
        )*
    };
}
plain!(bool, i64, String, Number, RequestId);
