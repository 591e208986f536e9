//! The processor time of the whole program.
//!
//! On a machine that does something else too, time that passes says little, and this still says
//! what a job costs.

use std::fs::read_to_string;
use wheelhouse_frame::Figure;

/// What the kernel counts in: a hundredth of a second, on every Linux.
const NANOS_PER_TICK: u64 = 10_000_000;

/// The processor time that this program has used so far, all threads together, in nanoseconds.
/// `None` where the system does not tell.
pub(crate) fn used() -> Option<u64> {
    parse(&read_to_string("/proc/self/stat").ok()?)
}

/// Processor time between two readings, divided by a number of things; `None` if the system does
/// not have it.
pub(crate) fn figure(
    name: &'static str,
    begin: Option<u64>,
    end: Option<u64>,
    each: u64,
) -> Option<Figure> {
    let used = end?.checked_sub(begin?)?;
    Some(Figure::time(name, used as f64 / each.max(1) as f64))
}

/// The sum of the 14th and 15th field. The second is the name, in parentheses, and may hold
/// anything.
fn parse(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: Vec<u64> =
        rest.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    (ticks.len() == 2).then(|| ticks.iter().sum::<u64>() * NANOS_PER_TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let stat = "4711 (a ) b) R 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1";
        assert_eq!(parse(stat), Some(3_000_000_000));
        assert_eq!((parse(""), parse("1 (x) R 1 2")), (None, None));
    }
}
