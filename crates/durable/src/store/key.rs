//! Names, numbers and times of jobs.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The key of the row by which a store says that it is one of several. It is never due.
pub(crate) const SHARD_KEY: &str = "wheelhouse-shard";

/// The beginning of the kind and of the key of a row that pauses a kind. The paused kind follows,
/// or nothing if all are paused.
pub(crate) const PAUSE: &str = "wheelhouse-pause:";

/// The name under which a job is found: 1 to 512 bytes, text or not. At most one job has it at a
/// time. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(Arc<[u8]>);

impl Key {
    /// The longest key, in bytes.
    pub const LONGEST: usize = 512;

    /// Takes a key over.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`], if it is empty or longer than [`LONGEST`](Self::LONGEST).
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

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns `true` if this key is not for jobs: a store has its own rows under such keys. One
    /// says which of [several stores](crate::Builder::start_shards) it is; others are
    /// [pauses](crate::Timers::pause).
    ///
    /// ```
    /// use wheelhouse_durable::store::Key;
    ///
    /// assert!(Key::new("wheelhouse-shard")?.is_reserved());
    /// assert!(!Key::new("order-17")?.is_reserved());
    /// # Ok::<(), wheelhouse_durable::store::InvalidKey>(())
    /// ```
    pub fn is_reserved(&self) -> bool {
        *self.0 == *SHARD_KEY.as_bytes() || self.0.starts_with(PAUSE.as_bytes())
    }
}

/// So that a key is taken where bytes or text are.
impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// As text, with what is no text in hexadecimal.
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
    /// Its length in bytes.
    pub length: usize,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length } = self;
        write!(f, "a key of {length} bytes: keys have 1 to {} bytes", Key::LONGEST)
    }
}

impl std::error::Error for InvalidKey {}

/// The name of a handler, with its version, such as `close-order/2`: 1 to 255 bytes without control
/// characters.
pub type Kind = Arc<str>;

/// Whether stores take this kind: 1 to 255 bytes, and no control characters.
pub(crate) fn is_kind(kind: &str) -> bool {
    (1..=255).contains(&kind.len()) && !kind.contains(char::is_control)
}

/// The kinds that a program has handlers for: sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds(Arc<[Kind]>);

impl Kinds {
    /// These kinds, in whatever order.
    pub fn new<K: Into<Kind>>(kinds: impl IntoIterator<Item = K>) -> Self {
        let mut kinds: Vec<Kind> = kinds.into_iter().map(Into::into).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self(kinds.into())
    }

    /// Whether this kind is among them. O(log k).
    pub fn contains(&self, kind: &str) -> bool {
        self.0.binary_search_by(|its| (**its).cmp(kind)).is_ok()
    }

    /// All of them, sorted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Kind> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A fencing token: who holds the newest one holds the job. They grow, so that a resource that
/// remembers the highest can refuse who comes late with a lower one.
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
    /// The last time that can be named: 2^53 - 1 milliseconds, which a double holds exactly. The
    /// year is about 287396.
    pub const MAX: Self = Self((1 << 53) - 1);

    /// So many milliseconds after 1970, or [`MAX`](Self::MAX).
    pub const fn from_millis(millis: u64) -> Self {
        if millis > Self::MAX.0 { Self::MAX } else { Self(millis) }
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// A time of the wall clock, rounded up to a millisecond; 1970 if it is before that.
    pub fn at_or_after(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(millis_up(since))
    }

    /// A time of the wall clock, rounded down to a millisecond; 1970 if it is before that.
    pub fn at_or_before(time: SystemTime) -> Self {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// So much later, rounded up, or [`MAX`](Self::MAX).
    pub fn saturating_add(self, delay: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(millis_up(delay)))
    }

    /// Time since `earlier`; zero if that is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// The same for the wall clock; `None` if the platform's reaches less far.
    pub fn to_system_time(self) -> Option<SystemTime> {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.0))
    }
}

/// Rounded up to a millisecond.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self::at_or_after(time)
    }
}

/// Whole milliseconds, rounded up.
fn millis_up(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
