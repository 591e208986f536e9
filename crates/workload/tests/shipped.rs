//! The shipped traces are complete and agree with their headers.

mod common;

use common::CountingPlayer;
use wheelhouse_core::Timer;
use wheelhouse_workload::trace;

/// The limit for all traces together: the registry accepts packages of up to 10 MB.
const MOST_BYTES: usize = 8_000_000;

#[test]
fn shipped_traces_read_to_their_ends() {
    assert_eq!(trace::shipped().len(), 2);
    for shipped in trace::shipped() {
        let mut reader = shipped.open().expect("the trace is complete");
        let ops = reader
            .by_ref()
            .fold(0, |count, op| count + op.map(|_| 1).expect("the trace is complete"));
        let header = reader.header().clone();
        let totals = reader.totals().expect("the end was reached");
        assert_eq!((header.name.as_str(), header.operations), (shipped.name, ops));
        assert_eq!(header.tick_ns, 4_000_000);
        assert!(totals.timer_operations() > 1_000_000, "{totals}");
        assert!(header.provenance.contains(&totals.to_string()), "{}", header.provenance);
        for word in ["Linux", "HZ=250", "command:", "starts", "cancels", "expiries", "0 lost"] {
            assert!(header.provenance.contains(word), "{word} is not in {}", header.provenance);
        }
    }
    assert!(trace::shipped().iter().map(|shipped| shipped.bytes.len()).sum::<usize>() < MOST_BYTES);
}

/// Every cancellation and reschedule of a trace is of a live timer, since the converter knows which
/// timers are live.
#[test]
fn shipped_traces_are_coherent() {
    for shipped in trace::shipped() {
        let mut reader = shipped.open().expect("the trace is complete");
        let mut played = CountingPlayer::new(reader.header().labels as usize);
        reader.by_ref().for_each(|op| played.play(&[op.expect("the trace is complete")]));
        let totals = reader.totals().expect("the end was reached");
        let CountingPlayer { player, cancelled, moved, peak } = played;
        let expected = (totals.cancels, totals.reschedules);
        assert_eq!((cancelled, moved), expected, "{}", shipped.name);
        let live = player.timer().len() as u64;
        assert_eq!(totals.inserts, player.fired() + totals.cancels + live);
        assert!(peak > 2000, "{}: {peak} live", shipped.name);
    }
}
