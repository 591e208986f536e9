//! Line charts as SVG: an [`axis`] places figures, a [`chart`] draws them, a [`palette`] colours
//! them.
//!
//! Each picture needs no script, font or link, follows the reader's light or dark theme, and has
//! the same colour for a name everywhere.
//!
//! The crate plotters can draw SVG, too, and was considered. It has no style sheets for a dark
//! theme, no axis of percentiles, no names at the ends of lines and three of the seven marks, so
//! most of this code would remain.

pub mod axis;
pub mod chart;
mod frame;
pub mod palette;
pub mod panels;
