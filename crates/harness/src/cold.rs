//! Cold memory that is cold.
//!
//! glibc's allocator learns: once a large array was freed, it keeps the like of it, mapped already,
//! for the next. After a structure was built and dropped a few times, building one again would
//! touch no fresh page, and *insert cold* would be warm. Its thresholds are fixed from the
//! environment alone, before the program starts: so it starts itself once more.

/// What turns the learning off: arrays of 128 KiB and more are mapped anew, and free memory goes
/// back at once.
const THRESHOLDS: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Sees to it that freed memory is not kept, by replacing this process with itself under the
/// environment that says so. Does nothing where that is so already, or where the system has no such
/// thing; if it fails, a warning says what that means.
pub fn forget_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if THRESHOLDS.iter().any(|(name, _)| std::env::var_os(name).is_none()) {
        use std::os::unix::process::CommandExt;
        let Ok(program) = std::env::current_exe() else { return };
        let error = std::process::Command::new(program)
            .args(std::env::args_os().skip(1))
            .envs(THRESHOLDS)
            .exec();
        wheelhouse_present::console::say(format_args!(
            "warning: cannot start anew ({error}): the column 'insert cold' will show memory that \
             was used before"
        ));
    }
}
