//! Ctrl-C ends a run between two measurements and keeps what is finished; a second one ends it at
//! once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use wheelhouse_present::console::say;

/// What a shell makes of a program that Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C is noted. Calling it again does nothing.
pub fn watch() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let noted = ctrlc::set_handler(|| {
            if REQUESTED.swap(true, Ordering::Relaxed) {
                std::process::exit(INTERRUPTED.into());
            }
            say(format_args!(
                "\n\
                 ending after the measurement under way; what is finished is kept (Ctrl-C again \
                 ends at once)"
            ));
        });
        if let Err(error) = noted {
            say(format_args!("warning: Ctrl-C will end the run without a last word ({error})"));
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// As if Ctrl-C had been pressed.
#[doc(hidden)]
pub fn request_for_test(requested: bool) {
    REQUESTED.store(requested, Ordering::Relaxed);
}
