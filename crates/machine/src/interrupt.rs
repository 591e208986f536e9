//! Ctrl-C ends a run between two measurements and keeps what is finished. A second Ctrl-C ends it
//! at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use wheelhouse_present::console::say;

/// The exit code that shells report for a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Handles Ctrl-C from now on. Further calls do nothing.
pub fn watch() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let installed = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            say(format_args!(
                "\n\
                 ending after the current measurement; finished results are kept (press Ctrl-C \
                 again to end at once)"
            ));
        });
        if let Err(error) = installed {
            say(format_args!("warning: Ctrl-C will end the run at once ({error})"));
        }
    });
}

/// Returns `true` if Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Sets the answer of [`requested`], as if Ctrl-C had been pressed or not.
#[doc(hidden)]
pub fn request_for_test(requested: bool) {
    REQUESTED.store(requested, Ordering::Relaxed);
}
