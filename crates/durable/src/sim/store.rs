//! The connection of a simulated program to the store.

use super::fault::Place;
use super::program::Program;
use super::world::World;
use crate::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Store,
    StoreError, Timestamp, Waker,
};
use std::sync::Arc;
use std::time::Duration;

/// Calls take time, and faults strike before and after each of them. Each call is also shown to the
/// [`Promises`](super::promise::Promises).
pub(super) struct SimStore {
    world: World,
    program: Arc<Program>,
    store: Box<dyn Store>,
}

impl SimStore {
    pub(super) fn new(world: &World, program: &Arc<Program>) -> Self {
        let (world, program) = (world.clone(), Arc::clone(program));
        Self { store: world.connect(), world, program }
    }

    fn read<T>(
        &mut self,
        act: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.world.strike(&self.program, Place::Read, false)?;
        act(&mut *self.store)
    }
}

impl Store for SimStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let Self { world, program, store } = self;
        let place = Place::of_commit(changes);
        world.strike(program, place.clone(), false)?;
        world.take_time();
        let outcomes = store.commit(changes)?;
        world.note(program.number, format_args!("made {place}: {outcomes:?}"));
        let now = world.store_clock().now();
        let taken = world.promises(|promises| promises.committed(changes, &outcomes, now));
        world.strike(program, place, true)?;
        world.0.state.lock().promises.told(&taken.unwrap_or_default());
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        let Self { world, program, store } = self;
        world.strike(program, Place::Claim, false)?;
        world.take_time();
        let (leased, next) = store.claim(kinds, limit, visibility)?;
        let (now, _) = world.store_clock().now();
        for leased in &leased {
            let what = if leased.has_begun() { "begins" } else { "leases" };
            let text = format_args!("{what} '{}' as {}", leased.job.key, leased.token);
            world.note(program.number, text);
        }
        world.promises(|promises| {
            promises.claimed(&leased, (next, now), (kinds, limit), program.max_attempts)
        });
        if !leased.is_empty() {
            world.strike(program, Place::Claim, true)?;
        }
        Ok((leased, next))
    }

    fn wake_by(&mut self, waker: Waker) {
        // A store need not be able to wake programs. They then notice jobs when they poll.
        if self.world.draw(|rng| rng.u32(0..4)) > 0 {
            self.store.wake_by(waker);
        }
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.read(|store| store.find(key))
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.read(|store| store.scan(after, max))
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        self.read(|store| store.dead(after, max))
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        self.read(|store| store.kinds())
    }

    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        self.read(|store| store.gauges())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let (world, program) = (self.world.clone(), Arc::clone(&self.program));
        let second = self.store.beside()?;
        Ok(second.map(|store| Box::new(Self { world, program, store }) as Box<dyn Store>))
    }
}
