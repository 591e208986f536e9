//! Systems without inotify: programs are not woken by others, and poll the store.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use wheelhouse_durable::store::Waker;

pub(crate) enum Watcher {}

impl Watcher {
    pub(crate) fn start(_: (&Path, &Path), _: Option<&Path>, _: Waker) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }
}

pub(crate) fn signal(_: &File) {}

pub(crate) fn announce(_: &Path) {}
