use super::*;

/// What a program would see after four billion timers in one place.
#[test]
fn a_place_is_not_used_again_after_its_last_generation() -> Result<(), &'static str> {
    type All = Nodes<Flat<char>>;
    let ways: [fn(&mut All, TimerId) -> Option<char>; 4] = [
        |nodes, id| nodes.remove(id).map(|(_, armed)| armed.value),
        |nodes, id| nodes.remove_at(id.index()).map(|(_, _, armed)| armed.value),
        |nodes, _| nodes.pop(0).map(|(_, armed, _)| armed.value),
        |nodes, id| {
            let armed = nodes.take(id);
            nodes.release(id);
            armed.map(|armed| armed.value)
        },
    ];
    for leave in ways {
        let mut nodes = All::new(Flat::with_capacity(4));
        let slot = nodes.add_slots(1, 0);
        let first = nodes.reserve(4).ok_or("there is room for four")?;
        let last = TimerId::from_parts(first.index(), NonZeroU32::MAX);
        let links = nodes.append(slot, last.index()).ok_or("there is room in the slot")?;
        nodes.put(last, links, 7, 'a');
        assert_eq!((nodes.len(), nodes.get(last).map(|armed| armed.value)), (1, Some('a')));
        assert_eq!(leave(&mut nodes, last), Some('a'));
        assert_eq!((nodes.len(), nodes.get(last).is_none()), (0, true));
        let next = nodes.reserve(4).ok_or("there is room for four")?;
        assert_eq!((next.index(), next.generation()), (first.index() + 1, NonZeroU32::MIN));
    }
    Ok(())
}
