//! Every builder refuses a number of slots that its structure cannot use, and a capacity beyond
//! 2^32 - 1.

use wheelhouse_binary_heap::{BinaryHeap, LazyHeap};
use wheelhouse_hashed_wheel::HashedWheel;
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, ListWheel};
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_linux_wheel::LinuxWheel;
use wheelhouse_queue_per_delay::QueuePerDelay;
use wheelhouse_round_wheel::RoundWheel;
use wheelhouse_single_wheel::SingleWheel;
use wheelhouse_skip_list::SkipList;

/// For each structure, the numbers of slots that its builder refuses.
macro_rules! refused {
    ($($timer:ty $(, $slots:ident: $refused:expr)?;)+) => {
        $(
            $(
                for slots in $refused {
                    let built = <$timer>::builder().$slots(slots).build();
                    assert!(built.is_err(), "{} takes {slots} slots", stringify!($timer));
                }
            )?
            #[cfg(target_pointer_width = "64")]
            {
                let built = <$timer>::builder().capacity(1 << 40).build();
                assert!(built.is_err(), "{} takes a capacity of 2^40", stringify!($timer));
            }
        )+
    };
}

#[test]
fn builders_refuse_what_their_structures_cannot_use() {
    refused! {
        HierarchicalWheel<u8>, slots_per_level: [0, 1, 100, 1 << 17];
        ListWheel<u8>, slots_per_level: [0, 1, 100, 1 << 17];
        RoundWheel<u8>, slots: [0, 1, 100, 1 << 17];
        SingleWheel<u8>, slots: [0, 1, 100, 1 << 17];
        HashedWheel<u8>, slots: [0, 1, 100, 1 << 17];
        KafkaWheel<u8>, slots: [0, 1, 1 << 17];
        LinuxWheel<u8>;
        BinaryHeap<u8>;
        BinaryHeap<u8, 4>;
        LazyHeap<u8>;
        SkipList<u8>;
        QueuePerDelay<u8>;
    }
}
