#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

#[cfg(feature = "baselines")]
pub use wheelhouse_baselines as baselines;
#[cfg(feature = "binary-heap")]
pub use wheelhouse_binary_heap as binary_heap;
#[cfg(feature = "calendar-queue")]
pub use wheelhouse_calendar_queue as calendar_queue;
#[cfg(feature = "hashed-wheel")]
pub use wheelhouse_hashed_wheel as hashed_wheel;
#[cfg(feature = "hierarchical-wheel")]
pub use wheelhouse_hierarchical_wheel as hierarchical_wheel;
#[cfg(feature = "hierarchical-wheel")]
pub use wheelhouse_hierarchical_wheel::{HierarchicalWheel, ListWheel};
#[cfg(feature = "kafka-wheel")]
pub use wheelhouse_kafka_wheel as kafka_wheel;
#[cfg(feature = "linux-wheel")]
pub use wheelhouse_linux_wheel as linux_wheel;
#[cfg(feature = "queue-per-delay")]
pub use wheelhouse_queue_per_delay as queue_per_delay;
#[cfg(feature = "round-wheel")]
pub use wheelhouse_round_wheel as round_wheel;
#[cfg(feature = "single-wheel")]
pub use wheelhouse_single_wheel as single_wheel;
#[cfg(feature = "skip-list")]
pub use wheelhouse_skip_list as skip_list;

#[cfg(feature = "durable")]
pub use wheelhouse_durable as durable;
#[cfg(feature = "record")]
pub use wheelhouse_record as record;
#[cfg(feature = "service")]
pub use wheelhouse_service as service;

/// The stores of durable timers, each with a feature.
#[cfg(feature = "durable")]
pub mod store {
    #[cfg(feature = "postgres")]
    pub use wheelhouse_store_postgres as postgres;
    #[cfg(feature = "redis")]
    pub use wheelhouse_store_redis as redis;
    #[cfg(feature = "sqlite")]
    pub use wheelhouse_store_sqlite as sqlite;
}
