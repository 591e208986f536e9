//! Load on running timer services: ours, and others for comparison.
//!
//! The other benches drive data structures by a virtual clock, on one thread. Here services run as
//! in a program: with their own threads, in real time, while other threads give them jobs. The
//! experiments ask each [`facility`]:
//!
//! | experiment | question |
//! |---|---|
//! | `pairs` | how many jobs can be scheduled and cancelled per second: at once, after a while, by another thread |
//! | `producers` | how long does a call take while 64 threads make calls |
//! | `schedule` | how many jobs can be scheduled per second, and how much memory does each take |
//! | `refresh` | how many sessions can be moved to a later time per second |
//! | `fires` | how late are jobs that fire at 100,000 or 300,000 a second |
//! | `slow-jobs` | how late are brief jobs if one in 500 blocks its thread |
//! | `millisecond-jobs` | how late are jobs that need 80 % of the processors |
//! | `periodic` | how much processor time does a run of 100,000 periodic jobs take |
//! | `sessions` | how late do 500,000 sessions expire after they were refreshed |
//! | `server` | how many processors do the timeouts of a server take |
//! | `audit` | how long do a million jobs take that are due at one instant |
//! | `idle` | how often does a thread wake up while nothing is due |
//!
//! How a figure is made: an [experiment](experiments) gives jobs to a facility, and each run is
//! noted in a [`ledger`]. Then the play is checked: each job must have run exactly as
//! often as it should, and none early. Only then are figures computed. The frame plays the
//! facilities in turn, shows the medians, and compares them with the bounds for our service.
//! [`options`] is the command line.

mod check;
pub mod contender;
mod cpu;
mod distribution;
pub mod experiments;
pub mod facilities;
pub mod facility;
mod glance;
mod job_work;
pub mod ledger;
pub mod load;
pub mod options;
mod pace;
mod targets;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
