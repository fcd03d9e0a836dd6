//! The table of structs.

/// Conversions of structs, member by member. A row is the name of the struct in both revisions, or two names, and its fields:
///
/// - `field`: moved.
/// - `field: "member"`: converted. The text is the member's name in JSON.
/// - `field: "member" [require]`: moved. A value without the member is refused.
/// - `field: "member" [adopt "#/pointer"]`: taken from the undeclared members, if the value is valid by the target's schema at
///   the pointer.
/// - `field: "member" [call function, "rule"]`: converted by a hand-written function, which gets the rule's name.
///
/// The members after `leave` aren't declared in the target. They are dropped and recorded, or carried.
///
/// ```
/// # mod source {
/// #     #[derive(Default)]
/// #     pub struct Tool { pub name: String, pub icon: Option<String>, pub extra: mcp_wire::Extra }
/// # }
/// # mod target {
/// #     #[derive(Debug, PartialEq)]
/// #     pub struct Tool { pub name: String, pub extra: mcp_wire::Extra }
/// # }
/// use mcp_convert::{Conversion, Policy, objects};
///
/// enum Revision {}
///
/// objects! {
///     Revision: source => target;
///     Tool { name } [leave "icon" => icon]
/// }
///
/// let tool = source::Tool { name: "draw".into(), icon: Some("draw.png".into()), ..Default::default() };
/// let mut conversion = Conversion::<Revision>::new(Policy::Conform);
/// let converted: target::Tool = conversion.convert(tool)?;
/// assert_eq!(converted, target::Tool { name: "draw".into(), extra: Default::default() });
/// assert_eq!(conversion.into_losses()[0].to_string(), "`icon` dropped (automatic)");
/// # Ok::<(), mcp_convert::Unrepresentable>(())
/// ```
#[macro_export]
macro_rules! objects {
    (
        $revision:ident: $from:ident => $to:ident;
        $(
            $source:ident $(=> $target:ident)? { $($field:ident $(: $member:literal $([$($how:tt)+])?)?),* $(,)? }
            $([leave $($left:literal => $left_field:ident $(by $rule:literal)?),+])?
        )*
    ) => {$(
        $crate::objects! {
            @impl $revision, $from, $to, $source $($target)?;
            { $($field $(: $member $([$($how)+])?)?),* }
            { $($($left => $left_field $(by $rule)?),+)? }
        }
    )*};
    (@impl $revision:ident, $from:ident, $to:ident, $type:ident; $fields:tt $left:tt) => {
        $crate::objects! { @impl $revision, $from, $to, $type $type; $fields $left }
    };
    (
        @impl $revision:ident, $from:ident, $to:ident, $source:ident $target:ident;
        { $($field:ident $(: $member:literal $([$($how:tt)+])?)?),* }
        { $($left:literal => $left_field:ident $(by $rule:literal)?),* }
    ) => {
        impl $crate::Convert<$to::$target, $revision> for $from::$source {
            #[inline]
            #[allow(unused_mut, reason = "not every struct leaves or adopts a member")]
            fn convert(
                self,
                conversion: &mut $crate::Conversion<$revision>,
            ) -> ::std::result::Result<$to::$target, $crate::Unrepresentable> {
                let _ = &conversion;
                let mut extra = self.extra;
                $($crate::objects! { @adopt conversion, extra, $to, $field $($member $([$($how)+])?)? })*
                $(conversion.leave(&mut extra, $left, self.$left_field, $crate::objects!(@rule $($rule)?));)*
                ::std::result::Result::Ok($to::$target {
                    $($field: $crate::objects!(@value conversion, $field, self.$field $(, $member $([$($how)+])?)?),)*
                    extra,
                })
            }
        }
    };
    (@adopt $conversion:ident, $extra:ident, $to:ident, $field:ident $member:literal [adopt $pointer:literal]) => {
        let $field = $conversion.adopt(&mut $extra, $member, &$to::SCHEMA, ::std::option::Option::Some($pointer));
    };
    (@adopt $($other:tt)*) => {};
    (@rule) => { $crate::AUTOMATIC };
    (@rule $rule:literal) => { $rule };
    (@value $conversion:ident, $field:ident, $value:expr) => { $value };
    (@value $conversion:ident, $field:ident, $value:expr, $member:literal) => { $conversion.member($member, $value)? };
    (@value $conversion:ident, $field:ident, $value:expr, $member:literal [require]) => {
        $conversion.require($member, $value)?
    };
    (@value $conversion:ident, $field:ident, $value:expr, $member:literal [adopt $pointer:literal]) => { $field };
    (@value $conversion:ident, $field:ident, $value:expr, $member:literal [call $function:path, $rule:literal]) => {
        $conversion.within_member($member, |conversion| $function($value, conversion, $rule))?
    };
}
