//! The statistics, held against what they promise.

use wheelhouse_present::stats::*;

#[test]
fn the_median_and_its_deviation_do_not_follow_an_outlier() {
    let samples = [10.0, 11.0, 9.0, 10.5, 900.0];
    assert_eq!((median(&samples), deviation(&samples)), (Some(10.5), Some(0.5)));
    assert_eq!((median(&[4.0, 1.0, 3.0, 2.0]), median(&[])), (Some(2.5), None));
    assert_eq!((range(&samples), range(&[])), (Some((9.0, 900.0)), None));
    assert_eq!(relative_deviation(&[0.0, 0.0]), None);
}

#[test]
fn the_geometric_mean_is_the_same_from_either_side() {
    let ratios = [0.5, 2.0, 4.0, 1.0];
    let inverse: Vec<f64> = ratios.iter().map(|r| 1.0 / r).collect();
    let product = geometric_mean(&ratios).unwrap() * geometric_mean(&inverse).unwrap();
    assert!((product - 1.0).abs() < 1e-12);
    assert_eq!(
        (geometric_mean(&[]), geometric_mean(&[1.0, 0.0]), geometric_mean(&[f64::NAN])),
        (None, None, None)
    );
}

#[test]
fn an_interval_needs_three_positive_samples_on_both_sides() {
    let enough = [1.0, 2.0, 3.0];
    assert_eq!(ratio_interval(&[1.0, 2.0], &enough, 1), None);
    assert_eq!(ratio_interval(&enough, &[1.0, 2.0], 1), None);
    assert_eq!(ratio_interval(&enough, &[0.0, 1.0, 2.0], 1), None);
    assert_eq!(ratio_interval(&enough, &[f64::NAN, 1.0, 2.0], 1), None);
    assert!(ratio_interval(&enough, &enough, 1).is_some());
}

#[test]
fn an_interval_holds_its_ratio_and_repeats_with_its_seed() {
    let (slow, fast) = ([19.0, 20.0, 21.0, 22.0, 20.5], [10.0, 9.8, 10.2, 10.1, 11.0]);
    let ratio = ratio_interval(&slow, &fast, 7).unwrap();
    assert_eq!(Some(ratio), ratio_interval(&slow, &fast, 7));
    assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high, "{ratio:?}");
    assert!(ratio.low > 1.5 && ratio.high < 2.5, "{ratio:?}");
    assert!((ratio.ratio - 20.5 / 10.1).abs() < 1e-12);
}

/// Seven samples a side, from one skewed distribution: the interval must not exclude 1 much more
/// often than it says.
#[test]
fn intervals_of_equals_seldom_exclude_one() {
    let mut state = 1u64;
    let mut sample = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
        100.0 - 5.0 * (1.0 - uniform).ln()
    };
    let mut excluded = 0;
    for round in 0..400 {
        let a: Vec<f64> = (0..7).map(|_| sample()).collect();
        let b: Vec<f64> = (0..7).map(|_| sample()).collect();
        let ratio = ratio_interval(&a, &b, round).unwrap();
        excluded += u32::from(ratio.low > 1.0 || ratio.high < 1.0);
    }
    assert!((1..=40).contains(&excluded), "{excluded} of 400 intervals exclude what is true");
}
