//! Figures as people read them: three digits, SI units, thousands separators.

use indicatif::HumanCount;

const TIMES: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// Nanoseconds in the unit that leaves one to three digits before the point: `38.2 ns`, `1.23 µs`,
/// `16.5 ms`, `2.1 s`.
///
/// ```
/// assert_eq!(wheelhouse_present::units::time(1_234.0), "1.23 µs");
/// assert_eq!(wheelhouse_present::units::time(0.0), "0 ns");
/// ```
pub fn time(ns: f64) -> String {
    let (size, unit) = time_unit(ns);
    format!("{} {unit}", number(ns / size))
}

/// [`time`] without trailing zeros, for axes: `1 µs`, `0.5 ns`.
pub fn short_time(ns: f64) -> String {
    let (size, unit) = time_unit(ns);
    format!("{} {unit}", short(ns / size))
}

fn time_unit(ns: f64) -> (f64, &'static str) {
    // 999.6 would be shown as 1,000, so the next unit starts where rounding reaches it.
    TIMES.into_iter().rev().find(|(size, _)| ns.abs() >= size * 0.9995).unwrap_or(TIMES[0])
}

/// [`number`] without trailing zeros, for axes: `20`, `2.5`.
pub fn short(value: f64) -> String {
    let full = number(value);
    if full.contains('.') {
        full.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        full
    }
}

/// Three significant digits, with thousands separators, without decimals from 100 on: `0.512`,
/// `38.2`, `1,235`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    let digits = match size {
        0.0 => 0,
        s if s < 0.9995 => 3,
        s if s < 9.995 => 2,
        s if s < 99.95 => 1,
        _ => 0,
    };
    let sign = if value < 0.0 { "-" } else { "" };
    let plain = format!("{size:.digits$}");
    // A number with decimals is below 100 and needs no separators.
    sign.to_owned() + &plain.parse().map_or(plain, count)
}

/// A whole number with thousands separators: `1,000,000`.
pub fn count(value: u64) -> String {
    HumanCount(value).to_string()
}

/// A whole number for an axis: `1k`, `250k`, `1M`, otherwise with thousands separators.
pub fn short_count(value: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    match UNITS.into_iter().find(|(size, _)| value >= *size && value.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{}{unit}", value / size),
        None => count(value),
    }
}

/// Bytes of a machine's memory: `7.8 GiB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [(u32, &str); 4] = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match UNITS.into_iter().find(|(bits, _)| value >> bits > 0) {
        Some((bits, unit)) => format!("{:.1} {unit}", value as f64 / (1_u64 << bits) as f64),
        None => format!("{value} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_in_every_unit() {
        let shown: Vec<_> =
            [0.0, 0.5, 9.999, 38.24, 412.4, 999.7, 1e6, 16.53e6, 2.1e9].map(time).into();
        let wanted = [
            "0 ns", "0.500 ns", "10.0 ns", "38.2 ns", "412 ns", "1.00 µs", "1.00 ms", "16.5 ms",
            "2.10 s",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn numbers_have_separators_and_nan_is_a_dash() {
        for (value, shown) in [
            (1234.5, "1,234"),
            (-12.0, "-12.0"),
            (f64::NAN, "-"),
            (999_999.6, "1,000,000"),
            (99.96, "100"),
            (0.0, "0"),
            (-1_234_567.0, "-1,234,567"),
        ] {
            assert_eq!(number(value), shown);
        }
        assert_eq!([0, 999, 1000, 1_048_576].map(count), ["0", "999", "1,000", "1,048,576"]);
        let shown = [0, 1000, 250_000, 1_048_576, 3_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "1k", "250k", "1,048,576", "3G"]);
        assert_eq!([12, 1536, 8 << 30].map(bytes), ["12 B", "1.5 KiB", "8.0 GiB"]);
    }
}
