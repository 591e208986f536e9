//! The connection of a simulated program to the store.

use super::fault::Action;
use super::program::Program;
use super::world::World;
use crate::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Store,
    StoreError, Timestamp, Waker, forward_reads,
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

    fn read(&mut self) -> Result<&mut dyn Store, StoreError> {
        self.world.strike(&self.program, Action::Read, false)?;
        Ok(&mut *self.store)
    }
}

impl Store for SimStore {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        let Self { world, program, store } = self;
        let action = Action::of_commit(changes);
        world.strike(program, action.clone(), false)?;
        world.take_time();
        let outcomes = store.commit(changes)?;
        world.note(program.number, format_args!("made {action}: {outcomes:?}"));
        let now = world.store_clock().now();
        let taken = world.promises(|promises| promises.committed(changes, &outcomes, now));
        world.strike(program, action, true)?;
        world.0.state.lock().promises.told(&taken.unwrap_or_default());
        Ok(outcomes)
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        let Self { world, program, store } = self;
        world.strike(program, Action::Claim, false)?;
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
            world.strike(program, Action::Claim, true)?;
        }
        Ok((leased, next))
    }

    fn wake_by(&mut self, waker: Waker) {
        // A store need not be able to wake programs. They then notice jobs when they poll.
        if self.world.draw(|rng| rng.u32(0..4)) > 0 {
            self.store.wake_by(waker);
        }
    }

    forward_reads!(self => self.read()?);

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let (world, program) = (self.world.clone(), Arc::clone(&self.program));
        let second = self.store.beside()?;
        Ok(second.map(|store| Box::new(Self { world, program, store }) as Box<dyn Store>))
    }
}
