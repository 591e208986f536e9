//! Keeps labels apart that want the same place.

/// Places for labels that want to be at `wanted`: at least `gap` apart, between `low` and `high`,
/// and in the same order. If they do not fit, the gap shrinks until they do. O(k log k).
pub(super) fn spread(wanted: &[i32], gap: i32, low: i32, high: i32) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i]);
    let gaps = wanted.len().saturating_sub(1).max(1) as i32;
    let gap = gap.min((high - low) / gaps);
    let mut places = vec![0; wanted.len()];
    let mut next = low;
    for i in &order {
        places[*i] = wanted[*i].clamp(next, high.max(next));
        next = places[*i] + gap;
    }
    // Labels that were pushed past the end are pushed back.
    let mut last = high;
    for i in order.iter().rev() {
        places[*i] = places[*i].min(last);
        last = places[*i] - gap;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn only_labels_that_overlap_are_moved() {
        assert_eq!(spread(&[10, 50, 90], 20, 0, 100), [10, 50, 90]);
        assert_eq!(spread(&[50, 50, 50], 20, 0, 100), [50, 70, 90]);
        assert_eq!(spread(&[100, 95, 99], 20, 0, 100), [100, 60, 80]);
        assert_eq!(spread(&[], 20, 0, 100), [0; 0]);
    }

    #[test]
    fn the_gap_shrinks_if_labels_do_not_fit() {
        let places = spread(&[5; 21], 20, 0, 100);
        assert_eq!((places.iter().min(), places.iter().max()), (Some(&0), Some(&100)));
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] == 5));
    }
}
