#![doc = include_str!("../README.md")]

pub mod console;
pub mod document;
pub mod files;
pub mod html;
pub mod markdown;
pub mod plain;
pub mod plot;
pub mod progress;
pub mod splice;
pub mod stats;
pub mod table;
pub mod units;
pub mod unknown;
