//! Cron lines in time zones, as users write them and as they are stored.

use crate::store::Timestamp;

/// The remedy on a machine without time zones.
#[cfg(feature = "cron")]
const NO_ZONES: &str =
    "install the package `tzdata`, or add `jiff` with its feature `tzdb-bundle-always`";

#[cfg(feature = "cron")]
pub(crate) struct CronRule(wheelhouse_service::cron::Cron);

#[cfg(feature = "cron")]
impl CronRule {
    /// Reads a line and a zone as users write them. Returns a message if they cannot be understood.
    pub(crate) fn new(line: &str, zone: &str) -> Result<Self, String> {
        let cron = wheelhouse_service::cron::Cron::new(line, time_zone(zone)?);
        cron.map(Self).map_err(|error| error.to_string())
    }

    /// Reads a line and a zone as they are stored: see [`plain`](Self::plain). Lines that older
    /// versions stored keep their meaning. `None` if they cannot be understood.
    pub(crate) fn stored(line: &str, zone: &str) -> Option<Self> {
        let zone = time_zone(zone).ok()?;
        wheelhouse_service::cron::Cron::from_plain(line, zone).ok().map(Self)
    }

    /// The line to store. Every version reads it alike.
    pub(crate) fn plain(&self) -> &str {
        self.0.plain()
    }

    pub(crate) fn next(&mut self, after: Timestamp) -> Option<Timestamp> {
        wheelhouse_service::Rule::next(&mut self.0, after.to_system_time()?).map(Timestamp::from)
    }
}

#[cfg(feature = "cron")]
fn time_zone(name: &str) -> Result<wheelhouse_service::cron::jiff::tz::TimeZone, String> {
    use wheelhouse_service::cron::jiff::tz::{TimeZone, db};

    TimeZone::get(name).map_err(|error| match db().is_definitively_empty() {
        true => format!("{error}: {NO_ZONES}"),
        false => error.to_string(),
    })
}

/// Without the feature `cron` no line is understood. A program that has the feature runs the job.
#[cfg(not(feature = "cron"))]
pub(crate) enum CronRule {}

#[cfg(not(feature = "cron"))]
impl CronRule {
    pub(crate) fn stored(_: &str, _: &str) -> Option<Self> {
        None
    }

    pub(crate) fn next(&mut self, _: Timestamp) -> Option<Timestamp> {
        match *self {}
    }
}
