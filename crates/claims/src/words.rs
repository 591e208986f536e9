//! Enums of which each variant has a word.

/// Defines an enum, the list of its variants, and their words.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$on:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$on])* $variant,)+
        }

        impl $name {
            /// All, in the order of tables.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in tables.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
