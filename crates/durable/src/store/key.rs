//! Keys, kinds, tokens and times.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use wheelhouse_service::{Clock, MonotonicClock};

/// The key of the row that holds the shard number of a store. It is never due.
pub(crate) const SHARD_KEY: &str = "wheelhouse-shard";

/// The prefix of the kind and of the key of a row that pauses a kind. The paused kind follows, or
/// nothing if all kinds are paused.
pub(crate) const PAUSE: &str = "wheelhouse-pause:";

/// The name of a job: 1 to 512 bytes, text or binary. At most one job has a key at a time. Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Arc<[u8]>);

impl Key {
    /// The longest key, in bytes.
    pub const LONGEST: usize = 512;

    /// Makes a key of these bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] if `bytes` is empty or longer than [`LONGEST`](Self::LONGEST).
    ///
    /// ```
    /// use wheelhouse_durable::store::Key;
    ///
    /// assert_eq!(Key::new("order-17")?.as_bytes(), b"order-17");
    /// assert!(Key::new("").is_err());
    /// # Ok::<(), wheelhouse_durable::store::InvalidKey>(())
    /// ```
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, InvalidKey> {
        let bytes = bytes.as_ref();
        match bytes.len() {
            1..=Self::LONGEST => Ok(Self(bytes.into())),
            length => Err(InvalidKey { length }),
        }
    }

    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns which of `shards` stores keeps the job of this key. It must never change, on any
    /// machine: stored jobs would not be found.
    pub(crate) fn shard_of(&self, shards: usize) -> usize {
        // The low bits of FNV-1a depend only on the low bits of the bytes, so the finalizer of
        // MurmurHash3 (Appleby) mixes it.
        let mix = |hash: u64, factor| (hash ^ (hash >> 33)).wrapping_mul(factor);
        let hash = fnv_1a(0xcbf2_9ce4_8422_2325, &self.0);
        let hash = mix(mix(hash, 0xff51_afd7_ed55_8ccd), 0xc4ce_b9fe_1a85_ec53);
        usize::try_from((hash ^ (hash >> 33)) % shards as u64).unwrap_or_default()
    }

    /// Returns `true` if this key is reserved for rows that are not jobs: the shard number of one
    /// of [several stores](crate::Builder::start_shards), and [pauses](crate::Timers::pause).
    pub fn is_reserved(&self) -> bool {
        *self.0 == *SHARD_KEY.as_bytes() || self.0.starts_with(PAUSE.as_bytes())
    }
}

/// Adds bytes to a hash by FNV-1a (Fowler, Noll, Vo), 64 bits: the same in each build.
pub(crate) fn fnv_1a(hash: u64, bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(hash, add)
}

/// Lets a key be passed to parameters that take bytes or text.
impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// As text. A key that is not UTF-8, or has control characters, is shown in hexadecimal.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match std::str::from_utf8(&self.0) {
            Ok(text) if !text.contains(char::is_control) => f.write_str(text),
            _ => self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A key that is empty or too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    /// The length of the key in bytes.
    pub length: usize,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length } = self;
        write!(f, "invalid key of {length} bytes: keys have 1 to {} bytes", Key::LONGEST)
    }
}

impl std::error::Error for InvalidKey {}

/// The name of a handler, with its version, such as `close-order/2`: 1 to 255 bytes without control
/// characters.
pub type Kind = Arc<str>;

/// The kinds that a program has handlers for: sorted, without duplicates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds(Arc<[Kind]>);

impl Kinds {
    /// Makes a set of these kinds, given in any order.
    pub fn new<K: Into<Kind>>(kinds: impl IntoIterator<Item = K>) -> Self {
        let mut kinds: Vec<Kind> = kinds.into_iter().map(Into::into).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self(kinds.into())
    }

    /// Returns `true` if `kind` is among them. O(log k).
    pub fn contains(&self, kind: &str) -> bool {
        self.0.binary_search_by(|its| (**its).cmp(kind)).is_ok()
    }

    /// All kinds, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Kind> {
        self.0.iter()
    }

    /// The number of kinds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if there are no kinds.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A fencing token: the worker with the newest token of a job holds the job. Tokens grow, so a
/// resource that remembers the highest one can refuse a late worker with a lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A time by a store's clock: whole milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The latest time: 2^53 - 1 milliseconds, which a double holds exactly. It is in about the
    /// year 287396.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// The time `millis` milliseconds after 1970, at most [`MAX`](Self::MAX).
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::MAX.0 { Self::MAX } else { Self(millis) }
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Rounds a time of the wall clock down to a millisecond; 1970 if it is before that.
    pub fn at_or_before(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// Adds `delay`, rounded up to a millisecond. The result is at most [`MAX`](Self::MAX).
    pub fn saturating_add(self, delay: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(millis_up(delay)))
    }

    /// The time since `earlier`; zero if that is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// As a time of the wall clock; `None` if the platform cannot represent it.
    pub fn to_system_time(self) -> Option<SystemTime> {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.0))
    }
}

/// Rounds a time of the wall clock up to a millisecond; 1970 if it is before that.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(millis_up(since))
    }
}

pub(crate) fn millis_up(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The wall clock, for a store within the program. If the wall clock is set back, this clock stops
/// until the wall clock has caught up, so nothing runs twice or early. Clones share one clock.
///
/// A store that outlives the program keeps [`high_water`](Self::high_water) and passes it to
/// [`at_least`](Self::at_least) at the next start.
#[derive(Clone)]
pub struct StoreClock {
    clock: Arc<dyn Clock>,
    /// The latest time shown, in milliseconds, rounded down.
    high: Arc<AtomicU64>,
}

impl StoreClock {
    /// The wall clock of `clock`: the machine's, or one that a test sets.
    pub fn new(clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), high: Arc::default() }
    }

    /// Shows `high_water` or a later time from now on.
    pub fn at_least(&self, high_water: Timestamp) {
        self.high.fetch_max(high_water.as_millis(), Ordering::SeqCst);
    }

    /// The latest time that was shown, rounded down.
    pub fn high_water(&self) -> Timestamp {
        Timestamp::from_millis(self.high.load(Ordering::SeqCst))
    }

    /// The present, rounded down to be compared with `visible_at`, and rounded up to add delays to.
    pub fn now(&self) -> (Timestamp, Timestamp) {
        let wall: SystemTime = self.clock.wall();
        let down = Timestamp::at_or_before(wall);
        let high = self.high.fetch_max(down.as_millis(), Ordering::SeqCst);
        let high = Timestamp::from_millis(high);
        (down.max(high), Timestamp::from(wall).max(high))
    }
}

impl Default for StoreClock {
    fn default() -> Self {
        Self::new(MonotonicClock::new())
    }
}

impl fmt::Debug for StoreClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreClock").field("high_water", &self.high_water()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers are pinned: stored jobs are found by them.
    #[test]
    fn keys_stay_in_their_shards_and_are_spread() {
        let shard_of = |key: &str, shards| Key::new(key).unwrap().shard_of(shards);
        assert_eq!(["a", "order-17", "order-18"].map(|key| shard_of(key, 5)), [0, 1, 0]);
        let shapes: [fn(u32) -> String; 3] =
            [|n| format!("order-{n}"), |n| format!("{n}/{n}"), |n| format!("{:08x}", n * 256)];
        for of in 2..10 {
            for shape in shapes {
                let mut counts = vec![0; of];
                (0..1_000 * of as u32).for_each(|n| counts[shard_of(&shape(n), of)] += 1);
                assert!(counts.iter().all(|its| (850..1_150).contains(its)), "{of}: {counts:?}");
            }
        }
    }
}
