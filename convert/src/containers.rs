//! Conversions of containers, envelopes and plain values, which every revision has.

use mcp_wire::{Call, Map, Message, Notice, Number, OpenJson, OpenObject, RequestId};

use crate::conversion::{Conversion, Convert};
use crate::open::{close, open};
use crate::unrepresentable::Unrepresentable;

impl<S: Convert<T, R>, T, R> Convert<Option<T>, R> for Option<S> {
    #[inline]
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Option<T>, Unrepresentable> {
        self.map(|value| value.convert(conversion)).transpose()
    }
}

impl<S: Convert<T, R>, T, R> Convert<Box<T>, R> for Box<S> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Box<T>, Unrepresentable> {
        (*self).convert(conversion).map(Box::new)
    }
}

impl<S: Convert<T, R>, T, R> Convert<Vec<T>, R> for Vec<S> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Vec<T>, Unrepresentable> {
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

impl<S: Convert<T, R>, T, R> Convert<Map<T>, R> for Map<S> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Map<T>, Unrepresentable> {
        self.try_map(|key, value| conversion.within_member(key, |conversion| value.convert(conversion)))
    }
}

impl<S: Convert<T, R>, T, R> Convert<Call<T>, R> for Call<S> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Call<T>, Unrepresentable> {
        let request = self.request.convert(conversion)?;
        Ok(Call { id: self.id, request })
    }
}

impl<S: Convert<T, R>, T, R> Convert<Notice<T>, R> for Notice<S> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Notice<T>, Unrepresentable> {
        let notification = self.notification.convert(conversion)?;
        Ok(Notice { notification })
    }
}

/// The result of a response isn't decoded or converted, because that requires the method of the request.
impl<Q: Convert<Q2, R>, N: Convert<N2, R>, Q2, N2, R> Convert<Message<Q2, N2>, R> for Message<Q, N> {
    fn convert(self, conversion: &mut Conversion<R>) -> Result<Message<Q2, N2>, Unrepresentable> {
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
        $(impl<R> Convert<$type, R> for $type {
            #[inline]
            fn convert(self, _: &mut Conversion<R>) -> Result<$type, Unrepresentable> {
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

impl<R> Convert<Number, R> for i64 {
    fn convert(self, _: &mut Conversion<R>) -> Result<Number, Unrepresentable> {
        Ok(Number::from(self))
    }
}

impl<R> Convert<i64, R> for Number {
    fn convert(self, _: &mut Conversion<R>) -> Result<i64, Unrepresentable> {
        close(&open(&self)?)
    }
}

impl<R> Convert<OpenJson, R> for OpenObject {
    fn convert(self, _: &mut Conversion<R>) -> Result<OpenJson, Unrepresentable> {
        Ok(OpenJson::from(self))
    }
}

impl<R> Convert<OpenObject, R> for OpenJson {
    fn convert(self, _: &mut Conversion<R>) -> Result<OpenObject, Unrepresentable> {
        close(&self)
    }
}

macro_rules! plain {
    ($($type:ty),*) => {
        $(
            impl<R> Convert<OpenJson, R> for $type {
                fn convert(self, _: &mut Conversion<R>) -> Result<OpenJson, Unrepresentable> {
                    open(&self)
                }
            }

            impl<R> Convert<$type, R> for OpenJson {
                fn convert(self, _: &mut Conversion<R>) -> Result<$type, Unrepresentable> {
                    close(&self)
                }
            }

            impl<R> Convert<Option<$type>, R> for $type {
                fn convert(self, _: &mut Conversion<R>) -> Result<Option<$type>, Unrepresentable> {
                    Ok(Some(self))
                }
            }

            impl<R> Convert<$type, R> for Option<$type> {
                fn convert(self, _: &mut Conversion<R>) -> Result<$type, Unrepresentable> {
                    self.ok_or_else(Unrepresentable::no_null)
                }
            }
        )*
    };
}
plain!(bool, i64, String, Number, RequestId);
