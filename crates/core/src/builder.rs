//! The configuration that all structures without further settings share.
//!
//! A builder has a first tick, a capacity, a meter and, for a wheel, a number of slots, and rejects
//! invalid values. Only the structure, its default and the documentation differ, so a macro writes
//! the rest: the builder, `new`, `builder` and `Default`.

/// Defines a type `Builder<T, M>`, which configures a structure, and the functions `new`,
/// `builder`, `meter` and `with_meter` of the structure. `Heap<const ARITY: usize = 2>` is a
/// structure with a parameter between `T` and `M`, which its builder then has too.
///
/// For a wheel, the arguments are the wheel, the name of the method that sets the number of slots
/// with its default, and a `const fn` that checks that number. The function returns the first
/// argument of the wheel's `with_parts(slots, start, capacity, meter)`, or a
/// [`ConfigError`](crate::ConfigError). The documentation of the type and of that method precedes
/// each. For another structure, the only argument is the structure, which has a function
/// `with_parts(start, capacity, meter)`. The structure has a field `meter`. The documentation of
/// the builder ends with an example, which imports the structure from the module of the call.
///
/// ```
/// use wheelhouse_core::meter::{Meter, NoMeter};
/// use wheelhouse_core::{ConfigError, SlotCount, Tick};
/// use std::marker::PhantomData;
///
/// struct Wheel<T, M = NoMeter> {
///     slots: SlotCount,
///     now: Tick,
///     value: PhantomData<T>,
///     meter: M,
/// }
///
/// impl<T, M: Meter> Wheel<T, M> {
///     fn with_parts(slots: SlotCount, now: Tick, _capacity: usize, meter: M) -> Self {
///         Self { slots, now, value: PhantomData, meter }
///     }
/// }
///
/// wheelhouse_core::timer_builder! {
///     /// Configures a wheel.
///     Builder of Wheel,
///     /// The number of slots, a power of two; 64 by default.
///     slots: 64, SlotCount::new
/// }
///
/// # fn main() -> Result<(), ConfigError> {
/// let wheel = Wheel::<&str>::builder().slots(128).start(7).build()?;
/// assert_eq!((wheel.slots.get(), wheel.now), (128, 7));
/// assert!(Wheel::<&str>::builder().slots(100).build().is_err());
/// assert!(Wheel::<&str>::builder().capacity(1 << 40).build().is_err());
/// assert_eq!(Wheel::<&str>::new().slots.get(), 64);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! timer_builder {
    (
        $(#[$type_doc:meta])*
        $builder:ident of $timer:ident $(<const $arity:ident: usize = $children:literal>)?
        $(, $(#[$slots_doc:meta])* $slots:ident: $default:expr, $check:expr)?
    ) => {
        $(#[$type_doc])*
        #[doc = concat!(
            "\n```\n# use wheelhouse_core::Timer;\n",
            "use ", module_path!(), "::", stringify!($timer), ";\n\n",
            "let timer: ", stringify!($timer), "<&str> =\n    ", stringify!($timer), "::builder()",
            $(".", stringify!($slots), "(64)",)? ".start(1_000).capacity(100).build()?;\n",
            "assert_eq!(timer.now(), 1_000);\n",
            "# assert_eq!(format!(\"{timer:?}\"), \"", stringify!($timer),
            " { now: 1000, len: 0, .. }\");\n",
            "# Ok::<(), wheelhouse_core::ConfigError>(())\n```"
        )]
        #[derive(Clone, Debug)]
        #[must_use = "nothing is built until `build` is called"]
        pub struct $builder<T $(, const $arity: usize = $children)?, M = $crate::meter::NoMeter> {
            $($slots: usize,)?
            start: $crate::Tick,
            capacity: usize,
            meter: M,
            // A builder holds no `T`, so it is `Send` and `Sync` for any.
            value: ::core::marker::PhantomData<fn() -> T>,
        }

        impl<T $(, const $arity: usize)?, M: $crate::meter::Meter> $builder<T $(, $arity)?, M> {
            $(
                $(#[$slots_doc])*
                pub fn $slots(mut self, slots: usize) -> Self {
                    self.$slots = slots;
                    self
                }
            )?

            /// The tick that the clock starts at; 0 by default.
            pub fn start(mut self, tick: $crate::Tick) -> Self {
                self.start = tick;
                self
            }

            /// Allocates room for this many timers at the start, 2^32 - 1 at most; 0 by default.
            /// The structure grows beyond it as needed.
            pub fn capacity(mut self, timers: usize) -> Self {
                self.capacity = timers;
                self
            }

            /// Counts the work with this meter. By default nothing is counted.
            pub fn meter<N: $crate::meter::Meter>(self, meter: N) -> $builder<T $(, $arity)?, N> {
                let Self { $($slots,)? start, capacity, value, .. } = self;
                $builder { $($slots,)? start, capacity, meter, value }
            }

            /// Builds the structure. O(1), in a wheel O(slots), plus the allocation.
            ///
            /// # Errors
            ///
            #[doc = concat!(
                "If the capacity is 2^32 or more",
                $(
                    ", or if [`", stringify!($slots), "`](Self::", stringify!($slots),
                    ") does not allow the number of slots",
                )?
                "."
            )]
            pub fn build(
                self,
            ) -> ::core::result::Result<$timer<T $(, $arity)?, M>, $crate::ConfigError> {
                $(let $slots = $check(self.$slots)?;)?
                let capacity = $crate::ConfigError::check_capacity(self.capacity)?;
                Ok($timer::with_parts($($slots,)? self.start, capacity, self.meter))
            }
        }

        impl<T> $timer<T> {
            /// An empty structure with the default configuration, its clock at 0.
            pub fn new() -> Self {
                Self::default()
            }
        }

        impl<T $(, const $arity: usize)?> $timer<T $(, $arity)?> {
            /// Returns a builder that sets the configuration.
            pub const fn builder() -> $builder<T $(, $arity)?> {
                $builder {
                    $($slots: $default,)?
                    start: 0,
                    capacity: 0,
                    meter: $crate::meter::NoMeter,
                    value: ::core::marker::PhantomData,
                }
            }
        }

        /// Prints the clock and the number of timers, not the timers.
        impl<T $(, const $arity: usize)?, M: $crate::meter::Meter> ::core::fmt::Debug
            for $timer<T $(, $arity)?, M>
        where
            Self: $crate::Timer<T>,
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($timer))
                    .field("now", &$crate::Timer::now(self))
                    .field("len", &$crate::Timer::len(self))
                    .finish_non_exhaustive()
            }
        }

        impl<T $(, const $arity: usize)?> Default for $timer<T $(, $arity)?> {
            fn default() -> Self {
                Self::with_meter($crate::meter::NoMeter)
            }
        }

        impl<T $(, const $arity: usize)?, M: $crate::meter::Meter> $timer<T $(, $arity)?, M> {
            /// The meter that counts the work.
            pub fn meter(&self) -> &M {
                &self.meter
            }

            pub(crate) fn with_meter(meter: M) -> Self {
                Self::with_parts(
                    // An invalid default does not compile.
                    $(const {
                        match $check($default) {
                            Ok(slots) => slots,
                            Err(_) => panic!("the default is valid"),
                        }
                    },)?
                    0,
                    0,
                    meter,
                )
            }
        }
    };
}
