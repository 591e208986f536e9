//! The calls of [`Timers`] that plan a job.

use super::Timers;
use crate::error::Error;
use crate::plan::{Plan, Repeat};
use crate::store::{Timestamp, When};
use std::time::Duration;

impl Timers {
    /// Plans a job for `delay` from now, by the store's clock. A time beyond [`Timestamp::MAX`]
    /// becomes [`Timestamp::MAX`].
    pub fn after(&self, delay: Duration) -> Plan<'_> {
        Plan::new(self, When::After(delay))
    }

    /// Plans a job for a time: a [`SystemTime`](std::time::SystemTime) or a [`Timestamp`]. A past
    /// time is due at once.
    pub fn at(&self, time: impl Into<Timestamp>) -> Plan<'_> {
        Plan::new(self, When::At(time.into()))
    }

    /// Plans a periodic job: the first run is a period from now, and later runs follow at whole
    /// periods after the first, without drift. The job ends when it is cancelled, its handler
    /// returns [`Stop`], or it [expires](Plan::expires).
    ///
    /// [`Stop`]: crate::Stop
    ///
    /// # Errors
    ///
    /// If the period is zero, or not a whole number of milliseconds.
    pub fn every(&self, period: Duration) -> Result<Plan<'_>, Error> {
        let millis = u64::try_from(period.as_millis()).unwrap_or(u64::MAX);
        if millis == 0 || !period.subsec_nanos().is_multiple_of(1_000_000) {
            let why = format!("the period {period:?} is zero or not in whole milliseconds");
            return Err(Error::Rule(why));
        }
        Ok(self.after(Duration::from_millis(millis)).repeat(Repeat::Every(millis)))
    }

    /// Plans a job for the times of a cron line, in a time zone by its IANA name, such as
    /// `Europe/Berlin`: see [`wheelhouse_service::cron`] for lines and changes of clocks. The name
    /// of the zone and the line are stored, and the program that runs the job reads them. A line
    /// that other versions would read differently is stored in [plain
    /// form](wheelhouse_service::cron::Cron::plain): `22-2` as `22-23,0-2`. This call reads the
    /// store's clock.
    ///
    /// # Errors
    ///
    /// If the line cannot be read or has no time in the future, or the zone is unknown;
    /// [`Error::Store`].
    #[cfg(feature = "cron")]
    pub fn cron(&self, line: &str, zone: &str) -> Result<Plan<'_>, Error> {
        if zone.contains([';', '=']) {
            return Err(Error::Rule(format!("the time zone '{zone}' is not known")));
        }
        let mut rule = crate::claim::CronRule::new(line, zone).map_err(Error::Rule)?;
        let first = rule.next(self.now()?);
        let none = || Error::Rule(format!("the cron line '{line}' has no time in the future"));
        let (line, zone) = (rule.plain().to_owned(), zone.to_owned());
        Ok(self.at(first.ok_or_else(none)?).repeat(Repeat::Cron { line, zone }))
    }
}
