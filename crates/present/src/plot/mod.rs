//! Line charts as SVG: an [`axis`] places figures, a [`chart`] draws them, a [`palette`] colours
//! them.
//!
//! Each picture stands alone (no script, no font, no link), follows the reader's light or dark
//! theme, and has the same colour for a name everywhere.

pub mod axis;
pub mod chart;
mod labels;
pub mod palette;
pub mod panels;
mod pen;
mod theme;
