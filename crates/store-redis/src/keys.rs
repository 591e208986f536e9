//! The names of a queue's data.

use redis::Cmd;

/// All have the queue as their hash tag, so that a cluster keeps them in one slot.
pub(crate) struct Keys {
    /// Hash: format, epoch, last number drawn.
    pub(crate) meta: String,
    /// Hash: key -> state of the row.
    pub(crate) states: String,
    /// Hash: key -> policy and payload.
    pub(crate) bodies: String,
    /// Hash: generation -> dead letter.
    pub(crate) dead: String,
    /// Sorted set: generation by itself.
    pub(crate) dead_order: String,
    /// Set: kinds of which there are, or were, rows.
    pub(crate) kinds: String,
    /// Sorted set for each kind, whose name is added: generation and key by `visible_at`. Without a
    /// kind it is the channel on which is told that something is visible earlier.
    pub(crate) order: String,
}

impl Keys {
    pub(crate) fn new(queue: &str) -> Self {
        let name = |name| format!("wh:{{{queue}}}:{name}");
        Self {
            meta: name("meta"),
            states: name("states"),
            bodies: name("bodies"),
            dead: name("dead"),
            dead_order: name("dead-order"),
            kinds: name("kinds"),
            order: name("order:"),
        }
    }

    /// Adds them, how many they are, and the orders of kinds, as the scripts expect them.
    pub(crate) fn add_to<'k>(&self, command: &mut Cmd, of: impl Iterator<Item = &'k str>) {
        let Self { meta, states, bodies, dead, dead_order, kinds, order } = self;
        let orders: Vec<String> = of.map(|kind| format!("{order}{kind}")).collect();
        let all = [meta, states, bodies, dead, dead_order, kinds, order];
        command.arg(all.len() + orders.len());
        command.arg(&all[..]).arg(orders);
    }
}
