//! The names of a queue's keys.

use redis::Cmd;

/// The names of the keys. All have the queue as their hash tag, so that a cluster keeps them in one
/// slot.
pub(crate) struct Keys {
    /// Hash: format.
    pub(crate) meta: String,
    /// Hash: key -> row; empty key -> last number drawn, epoch.
    pub(crate) jobs: String,
    /// Hash: key -> policy and payload that are too long for the row.
    pub(crate) bodies: String,
    /// Hash: key -> state of the row, in format 1.
    pub(crate) states: String,
    /// Hash: generation -> dead letter.
    pub(crate) dead: String,
    /// Sorted set: the generations of dead letters, with themselves as scores.
    pub(crate) dead_order: String,
    /// Set: kinds that have rows, or had rows.
    pub(crate) kinds: String,
    /// The prefix of a sorted set for each kind, to which the kind is appended: generation and key
    /// by `visible_at`. Without a kind, it is the channel of messages that a job is visible
    /// earlier.
    pub(crate) order: String,
}

impl Keys {
    pub(crate) fn new(queue: &str) -> Self {
        let name = |name| format!("wh:{{{queue}}}:{name}");
        Self {
            meta: name("meta"),
            jobs: name("jobs"),
            bodies: name("bodies"),
            states: name("states"),
            dead: name("dead"),
            dead_order: name("dead-order"),
            kinds: name("kinds"),
            order: name("order:"),
        }
    }

    /// Adds the number of keys, the keys, and the orders of the kinds `of`, as the scripts expect
    /// them.
    pub(crate) fn add_to<'k>(&self, command: &mut Cmd, of: impl Iterator<Item = &'k str>) {
        let Self { jobs, bodies, dead, dead_order, kinds, order, .. } = self;
        let orders: Vec<String> = of.map(|kind| format!("{order}{kind}")).collect();
        let all = [jobs, bodies, dead, dead_order, kinds, order];
        command.arg(all.len() + orders.len());
        command.arg(&all[..]).arg(orders);
    }
}
