//! Line charts as SVG: an [`axis`] places figures, a [`chart`] draws them, a [`palette`] colours
//! them.
//!
//! Each picture needs no script, font or link, follows the reader's light or dark theme, and has
//! the same colour for a name everywhere. A page finds a line, its marks and its name by the
//! attribute `data-structure` of their group, which is the name of the series.

pub mod axis;
pub mod chart;
mod frame;
mod labels;
pub mod palette;
pub mod panels;
mod theme;
