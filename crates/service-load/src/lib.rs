//! Load on running timer services: ours, and others for comparison.
//!
//! The other benches drive data structures by a virtual clock, on one thread. Here services run as
//! in a program: with their own threads, in real time, while other threads give them jobs.
//! `benches/SERVICE.md` in the repository describes the [experiments], the facilities, and the
//! limits of the figures.
//!
//! How a figure is made: an [experiment](experiments::Experiment) gives jobs to a [`facility`], and
//! each run is noted in a [`ledger`]. Then the play is checked: each job must have run exactly as
//! often as it should, and none early. Only then are figures computed. The frame plays the
//! facilities in turn, shows the medians, and compares them with the bounds for our service.
//! [`options`] is the command line.

mod check;
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
