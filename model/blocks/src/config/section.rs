//! A section of the configuration, declared once.

use super::Config;

/// What a value may be, in view of the others.
pub struct Rule {
    /// The key that is refused.
    pub key: &'static str,
    /// What it may be, in words.
    pub allowed: &'static str,
    /// Whether a configuration keeps the rule.
    pub holds: fn(&Config) -> bool,
}

/// Declares a section of the configuration: a member a line, with its type, its default, and what it may be.
///
/// ```text
/// section! {
///     /// The last result file.
///     pub struct LrfConfig, LrfLayer in lrf {
///         /// Shape: entries of each bank.
///         pub entries: usize = 1, "a number from 1 to 4" if |n| (1..=4).contains(&n);
///         /// Policy: values are written back.
///         pub write_back: bool = true;
///     }
/// }
/// ```
///
/// makes the struct, its defaults, the rules that its members keep alone, and the layer that a file or a setting gives: any
/// part of the section, each value with its place.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $name:ident, $layer:ident in $section:ident {
            $(
                $(#[$doc:meta])*
                pub $member:ident: $type:ty = $default:expr $(, $allowed:literal if $holds:expr)?;
            )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        pub struct $name {
            $($(#[$doc])* pub $member: $type,)+
        }

        impl $name {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($member: $default,)+ };

            /// What each member may be, whatever the others are.
            pub(crate) const RULES: &[$crate::config::Rule] = &[$($(
                $crate::config::Rule {
                    key: concat!(stringify!($section), ".", stringify!($member)),
                    allowed: $allowed,
                    holds: |config| {
                        let holds: fn($type) -> bool = $holds;
                        holds(config.$section.$member)
                    },
                },
            )?)+];
        }

        /// What a file or a setting says of the section.
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $layer {
            $($member: Option<toml::Spanned<$type>>,)+
        }

        impl $layer {
            /// Takes over what it says; `from` gets each key and where its value stands.
            pub(crate) fn apply(self, to: &mut $name, from: &mut dyn FnMut(&'static str, std::ops::Range<usize>)) {
                $(if let Some(value) = self.$member {
                    from(concat!(stringify!($section), ".", stringify!($member)), value.span());
                    to.$member = value.into_inner();
                })+
            }
        }
    };
}

pub(crate) use section;
