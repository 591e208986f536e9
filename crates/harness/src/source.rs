//! Where streams come from: workloads by name, the traces of the workload crate, and trace files.

use crate::stream::{MIX, Stream, TRACE};
use anyhow::Result;
use wheelhouse_present::unknown;
use wheelhouse_workload::{Mix, Workload, trace, workloads};

/// Something to make a stream from.
#[derive(Clone, Debug)]
pub enum StreamSource {
    /// A seeded workload.
    Workload(&'static Workload),
    /// Operations in the shares that the user chose.
    Mix(Mix),
    /// A trace that comes with the workload crate.
    Shipped(&'static trace::Shipped),
    /// A trace file, already read. It is read before a folder for the results is made, and only
    /// once, since it may be a pipe.
    File(Stream),
}

impl StreamSource {
    /// All workloads, then all shipped traces.
    pub fn all() -> Vec<Self> {
        let shipped = trace::shipped().iter().map(Self::Shipped);
        workloads().iter().map(Self::Workload).chain(shipped).collect()
    }

    /// The workload or shipped trace with this name. Traces are called `trace:NAME`.
    ///
    /// # Errors
    ///
    /// If there is none. The message lists the known names and suggests one.
    pub fn find(name: &str) -> Result<Self> {
        let names: Vec<String> = Self::all().iter().map(Self::name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = Self::all().into_iter().find(|source| source.name() == name);
        found.ok_or_else(|| unknown::error("workload or trace", name, &names))
    }

    /// The workloads and shipped traces of these names.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn select(names: &[String]) -> Result<Vec<Self>> {
        names.iter().map(|name| Self::find(name)).collect()
    }

    /// Returns `true` for the name of a workload or a shipped trace, and `false` for a name of the
    /// user's.
    pub fn is_known(name: &str) -> bool {
        Self::all().iter().any(|source| source.name() == name)
    }

    /// The name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Workload(workload) => workload.name.to_owned(),
            Self::Mix(mix) => format!("{MIX}{mix}"),
            Self::Shipped(shipped) => format!("{TRACE}{}", shipped.name),
            Self::File(stream) => stream.name.clone(),
        }
    }

    /// Returns `true` if it can be made for any number of timers. A trace has a fixed number.
    pub fn is_scalable(&self) -> bool {
        matches!(self, Self::Workload(_) | Self::Mix(_))
    }

    /// Makes the stream.
    ///
    /// # Errors
    ///
    /// If a shipped trace cannot be read.
    pub fn load(&self, n: u32, seed: u64) -> Result<Stream> {
        match self {
            Self::Workload(workload) => Ok(Stream::from_workload(workload, n, seed)),
            Self::Mix(mix) => Ok(Stream {
                name: self.name(),
                n: u64::from(n),
                labels: n as usize,
                phases: mix.phases(n, seed).collect(),
            }),
            Self::Shipped(shipped) => Stream::from_trace(shipped.name, shipped.bytes),
            Self::File(stream) => Ok(stream.clone()),
        }
    }
}
