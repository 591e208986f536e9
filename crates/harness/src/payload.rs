//! Our structures with values of more than eight bytes, for `--payload`.

use crate::structure::{self, Structures, structure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::hint::black_box;
use std::marker::PhantomData;
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::Meter;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The option that selects the size of the values.
#[derive(Clone, Copy, Debug, Args)]
pub struct PayloadOption {
    /// The bytes of a timer's value. Only some structures have rows for more than 8.
    #[arg(long, value_name = "BYTES", default_value = "8")]
    #[arg(value_parser = PossibleValuesParser::new(["8", "64", "256"])
        .map(|bytes| bytes.parse::<u16>().expect("a number")))]
    pub payload: u16,
}

/// The structures for many timers, with values of `$words` words.
macro_rules! with_words {
    ($words:literal) => {
        vec![
            structure::<Larger<wheelhouse_hierarchical_wheel::Definition, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_hierarchical_wheel::list::Definition, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_round_wheel::Definition, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_binary_heap::Definition, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_skip_list::Definition, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_binary_heap::Definition<4>, { $words - 1 }>>(),
            structure::<Larger<wheelhouse_binary_heap::LazyDefinition, { $words - 1 }>>(),
        ]
    };
}

/// The structures that hold values of this many bytes: those of the registry for 8, seven of them
/// for 64 and 256.
pub(crate) fn structures(payload: u16) -> Structures {
    match payload {
        64 => with_words!(8),
        256 => with_words!(32),
        _ => structure::all(),
    }
}

/// A backend whose values have `MORE` additional words.
struct Larger<B, const MORE: usize>(PhantomData<B>);

impl<B: Backend, const MORE: usize> Backend for Larger<B, MORE> {
    const INFO: Info = B::INFO;

    type Timer<T, M: Meter> = Padded<B::Timer<Value<T, MORE>, M>, MORE>;

    fn build<T, M: Meter + Default>() -> Self::Timer<T, M> {
        Padded(B::build())
    }

    fn meter<T, M: Meter>(timer: &Self::Timer<T, M>) -> Option<&M> {
        B::meter::<Value<T, MORE>, M>(&timer.0)
    }
}

struct Value<T, const MORE: usize> {
    value: T,
    more: [u64; MORE],
}

impl<T, const MORE: usize> Value<T, MORE> {
    fn new(value: T) -> Self {
        Self { value, more: [7; MORE] }
    }

    /// Returns the value. All words are moved out of the structure first, as in a program.
    fn take(self) -> T {
        black_box(&self.more);
        self.value
    }
}

/// A structure of large values with the interface of a structure of small values.
struct Padded<S, const MORE: usize>(S);

impl<T, S: Timer<Value<T, MORE>>, const MORE: usize> Timer<T> for Padded<S, MORE> {
    fn now(&self) -> Tick {
        self.0.now()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        self.0.insert(deadline, Value::new(value))
    }

    #[inline]
    fn cancel(&mut self, id: TimerId) -> Option<T> {
        self.0.cancel(id).map(Value::take)
    }

    #[inline]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.0.reschedule(id, deadline)
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.0.deadline(id)
    }

    #[inline]
    fn next_wakeup(&self) -> Option<Tick> {
        self.0.next_wakeup()
    }

    #[inline]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.0.pop_expired(now).map(small)
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.0.advance(now, |expired| on_expiry(small(expired)))
    }

    fn compact(&mut self) {
        self.0.compact();
    }
}

fn small<T, const MORE: usize>(expired: Expired<Value<T, MORE>>) -> Expired<T> {
    let Expired { id, deadline, value } = expired;
    Expired { id, deadline, value: value.take() }
}
