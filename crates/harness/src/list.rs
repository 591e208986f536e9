//! The table of the backends.

use crate::structure;
use wheelhouse_core::backend::{Info, Precision};
use wheelhouse_present::table::{Cell, Column, Table};

/// How many timers a structure holds when `list` measures its bytes. Without optimisation, 100,000
/// in each structure take seconds.
const MEASURED_TIMERS: u32 = if cfg!(debug_assertions) { 10_000 } else { 100_000 };

/// A row for each backend: its structure, the costs of its operations, its bytes per timer. With
/// `sources`, also its source.
pub fn backends(sources: bool) -> Table {
    let names = ["backend", "structure", "source", "insert", "cancel", "reschedule", "fire"];
    let names = names.into_iter().filter(|name| sources || *name != "source");
    let mut columns: Vec<_> = names.map(Column::left).collect();
    columns.push(Column::right("bytes/timer").keyed("bytes-per-timer"));
    let mut table = Table::new("Backends", columns);
    table.notes.push(format!(
        "n: live timers; m: levels; M: slots; k: timers in a slot. Costs are amortised. Bytes \
         include a payload of eight, and are measured at n = {MEASURED_TIMERS}."
    ));
    let limit = "Structures with an operation that visits all timers are measured at a smaller n.";
    table.notes.push(limit.to_owned());
    for structure in structure::all().into_iter().chain(structure::approximate()) {
        let Some(info) = structure.info() else { continue };
        let Some(memory) = structure.memory(MEASURED_TIMERS.min(info.max_timers), 1) else {
            continue;
        };
        let source = sources.then_some(info.source);
        let costs = [info.costs.insert, info.costs.cancel, info.costs.reschedule, info.costs.fire];
        let mut row = vec![Cell::text(info.name), Cell::text(info.structure).wrapped(20)];
        row.extend(source.map(Cell::text));
        row.extend(costs.map(|cost| Cell::text(cost).wrapped(15)));
        row.push(Cell::figure(memory.live, format!("{:.1}", memory.live)));
        table.rows.push(row);
        table.notes.extend(lateness_note(info));
    }
    table
}

/// A note about a structure that is late by design.
fn lateness_note(info: Info) -> Option<String> {
    let Precision::Late(bound) = info.precision else { return None };
    let (name, thousand, million) = (info.name, bound(1_000), bound(1_000_000));
    Some(format!(
        "{name} is late by design: a delay of 1000 ticks by up to {thousand}, one of 1000000 by up \
         to {million}. No comparison includes it."
    ))
}
