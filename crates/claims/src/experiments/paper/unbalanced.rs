//! A search tree that is never balanced: what Varghese and Lauck warn of in scheme 3.
//!
//! Timers of one length come in the order of their deadlines. Each then goes to the right of all others, and the tree is a list.

use crate::Scale;
use crate::count::random;
use crate::growth::Curve;
use rand::RngExt;

/// Insertions of which a sample is the mean, into a tree that has all but these.
const LAST: usize = 64;

/// Fewer than elsewhere: to fill such a tree takes n² steps.
const SIZES: [u64; 5] = [256, 512, 1_024, 2_048, 4_096];

/// No node.
const NONE: usize = usize::MAX;

/// Nodes by number; of each the key, and the children of lesser keys and of greater.
#[derive(Clone, Debug, Default)]
struct Tree(Vec<(u64, [usize; 2])>);

impl Tree {
    /// Adds a key: how many it was compared with.
    fn insert(&mut self, key: u64) -> u64 {
        let new = self.0.len();
        self.0.push((key, [NONE; 2]));
        let (mut at, mut comparisons) = (0, 0);
        while at != new {
            let side = usize::from(key >= self.0[at].0);
            comparisons += 1;
            let child = &mut self.0[at].1[side];
            if *child == NONE {
                *child = new;
            }
            at = *child;
        }
        comparisons
    }
}

/// Mean comparisons of the last of so many keys.
fn last_insertions(keys: impl Iterator<Item = u64>) -> f64 {
    let mut tree = Tree::default();
    let comparisons: Vec<u64> = keys.map(|key| tree.insert(key)).collect();
    let last = &comparisons[comparisons.len().saturating_sub(LAST)..];
    last.iter().sum::<u64>() as f64 / last.len() as f64
}

/// Timers of one length that come at random: comparisons of an insertion against n.
pub(super) fn ascending(scale: &Scale) -> Curve {
    Curve::sweep(&SIZES, scale.seeds(), |n, seed| {
        let (mut random, mut deadline) = (random(seed), 0);
        last_insertions((0..n).map(|_| {
            deadline += random.random_range(1..100_u64);
            deadline
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_order_make_a_list_and_keys_at_random_do_not() {
        assert_eq!(last_insertions(0..1_000), 999.0 - (LAST - 1) as f64 / 2.0);
        let mut random = random(1);
        let steps = last_insertions((0..1_000).map(|_| random.random()));
        // 2 ln n, by theory.
        assert!(steps > 8.0 && steps < 20.0, "{steps}");
    }
}
