//! Measures the bytes per live timer of a competitor, in the same way as the harness measures ours,
//! with one difference. The harness starts timers that fire again, until n are live. A competitor
//! does not report the handle of a timer that fires, so here each timer is cancelled and started
//! once more at the end.

use crate::peer::Peer;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wheelhouse_harness::memory::CHURN;
use wheelhouse_harness::model::Memory;
use wheelhouse_machine::allocator::allocated;

/// Measures a competitor with n timers and delays uniform in 1..=2^20: with n live timers, the peak
/// during their insertion, and after each was replaced several times.
pub(crate) fn measure<P: Peer>(n: u32, seed: u64) -> Memory {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut delay = move || random.random_range(1..=1_u64 << 20);
    let mut handles: Vec<Option<P::Handle>> = Vec::with_capacity(n as usize);
    let before = allocated();
    let held = || allocated().saturating_sub(before);
    let mut peer = P::new(n as usize);
    let mut peak = held();
    for value in 0..n {
        handles.push(Some(peer.insert(delay(), u64::from(value))));
        peak = peak.max(held());
    }
    let live = held();
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 1);
    let (mut now, mut value) = (0, u64::from(n));
    let mut replace = |peer: &mut P, handle: &mut Option<P::Handle>, now| {
        peer.cancel(handle);
        *handle = Some(peer.insert(now + delay(), value));
        value += 1;
    };
    for step in 0..CHURN * n {
        replace(&mut peer, &mut handles[random.random_range(0..n) as usize], now);
        if step % 16 == 0 {
            now += 1;
            peer.advance(now, |_| ());
        }
    }
    // The clock stands still from here on, so that n are live at the end.
    handles.iter_mut().for_each(|handle| replace(&mut peer, handle, now));
    let per_timer = |bytes: usize| bytes as f64 / f64::from(n.max(1));
    let churned = held();
    handles.into_iter().flatten().for_each(|handle| peer.forget(handle));
    Memory {
        backend: P::NAME.to_owned(),
        n: u64::from(n),
        live: per_timer(live),
        peak: per_timer(peak.max(live)),
        churned: per_timer(churned),
    }
}
