//! The builder that all wheels with slots share.
//!
//! A builder has a number of slots, a first tick, a capacity and a meter, and rejects invalid
//! values. Only the wheel, its default and the documentation differ, so a macro writes the rest.

/// Defines a type `Builder<T, M>`, which configures a wheel.
///
/// The arguments are the wheel, the name of the method that sets the number of slots with its
/// default, and a function that checks that number. The function returns the first argument of the
/// wheel's `with_parts(slots, start, capacity, meter)`, or a
/// [`SlotCountError`](crate::SlotCountError). The documentation of the type, of that method and of
/// `build` precedes each.
///
/// ```
/// use wheelhouse_core::meter::Meter;
/// use wheelhouse_core::{SlotCount, Tick, WheelError};
///
/// struct Wheel<T, M>(SlotCount, Tick, std::marker::PhantomData<T>, M);
///
/// impl<T, M: Meter> Wheel<T, M> {
///     fn with_parts(slots: SlotCount, start: Tick, _capacity: usize, meter: M) -> Self {
///         Self(slots, start, std::marker::PhantomData, meter)
///     }
/// }
///
/// wheelhouse_core::wheel_builder! {
///     /// Configures a wheel.
///     Builder of Wheel,
///     /// The number of slots, a power of two; 64 by default.
///     slots: 64,
///     /// Builds the wheel.
///     build: SlotCount::new,
/// }
///
/// # fn main() -> Result<(), WheelError> {
/// let wheel = Builder::<&str>::new().slots(128).start(7).build()?;
/// assert_eq!((wheel.0.get(), wheel.1), (128, 7));
/// assert!(Builder::<&str>::new().slots(100).build().is_err());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! wheel_builder {
    (
        $(#[$type_doc:meta])*
        Builder of $wheel:ident,
        $(#[$slots_doc:meta])*
        $slots:ident: $default:expr,
        $(#[$build_doc:meta])*
        build: $check:expr $(,)?
    ) => {
        $(#[$type_doc])*
        #[derive(Clone, Debug)]
        #[must_use = "nothing is built until `build` is called"]
        pub struct Builder<T, M = $crate::meter::NoMeter> {
            slots: usize,
            start: $crate::Tick,
            capacity: usize,
            meter: M,
            value: ::core::marker::PhantomData<fn() -> T>,
        }

        impl<T> Builder<T> {
            pub(crate) const fn new() -> Self {
                let (meter, value) = ($crate::meter::NoMeter, ::core::marker::PhantomData);
                Self { slots: $default, start: 0, capacity: 0, meter, value }
            }
        }

        impl<T, M: $crate::meter::Meter> Builder<T, M> {
            $(#[$slots_doc])*
            pub fn $slots(mut self, slots: usize) -> Self {
                self.slots = slots;
                self
            }

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
            pub fn meter<N: $crate::meter::Meter>(self, meter: N) -> Builder<T, N> {
                let Self { slots, start, capacity, value, .. } = self;
                Builder { slots, start, capacity, meter, value }
            }

            $(#[$build_doc])*
            pub fn build(self) -> ::core::result::Result<$wheel<T, M>, $crate::WheelError> {
                let slots = $check(self.slots)?;
                let capacity = $crate::WheelError::check_capacity(self.capacity)?;
                Ok($wheel::with_parts(slots, self.start, capacity, self.meter))
            }
        }
    };
}
