//! Keeps the memory of *insert cold* cold. Once a large array is freed, glibc's allocator keeps
//! memory of that size for the next one, unless environment variables fix its thresholds before the
//! program starts.

/// Each array of 128 KiB or more is mapped on its own, and freed memory is returned at once.
const THRESHOLDS: [(&str, &str); 2] =
    [("MALLOC_MMAP_THRESHOLD_", "131072"), ("MALLOC_TRIM_THRESHOLD_", "131072")];

/// Makes the allocator return freed memory. To do so, replaces this process with itself under the
/// environment variables for it. Does nothing if they are set already, or if the system does not
/// use glibc. If it fails, a warning states the consequence.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if THRESHOLDS.iter().any(|(name, _)| std::env::var_os(name).is_none()) {
        use std::os::unix::process::CommandExt;
        let Ok(program) = std::env::current_exe() else { return };
        let error = std::process::Command::new(program)
            .args(std::env::args_os().skip(1))
            .envs(THRESHOLDS)
            .exec();
        wheelhouse_present::console::say(format_args!(
            "warning: cannot restart ({error}): the column 'insert cold' will measure memory that \
             was used before"
        ));
    }
}
