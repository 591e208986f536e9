//! Files that are written completely or not at all, folders for them, and links between them.

use anyhow::{Context, Result, ensure};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes a file under a temporary name, and then renames it over the old version.
///
/// # Errors
///
/// If it cannot be written. The old version is then unchanged.
pub fn write_whole(path: &Path, contents: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(contents)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // Report the first error. A leftover temporary file does no harm.
        let _ = fs::remove_file(&temporary);
    }
    renamed.with_context(|| {
        format!("cannot write {}; is the disk full, or the folder not writable?", path.display())
    })
}

/// The user's working directory, for a bench: cargo runs a bench in the folder of its package. It
/// is the working directory of cargo itself, or else that of the shell.
pub fn where_cargo_was_called() -> PathBuf {
    #[cfg(target_os = "linux")]
    if let Ok(here) = fs::read_link(format!("/proc/{}/cwd", std::os::unix::process::parent_id())) {
        return here;
    }
    std::env::var_os("PWD").map(PathBuf::from).unwrap_or_default()
}

/// Makes the folder that the caller named, if it is missing, and checks that a file can be written
/// in it. So a long run does not end with results that cannot be saved.
///
/// # Errors
///
/// If it is a file, or cannot be made, or nothing can be written in it.
pub fn create_writable(out: &Path) -> Result<()> {
    let shown = out.display();
    ensure!(!out.is_file(), "{shown} is a file; name a folder with --out");
    let trial = out.join(format!(".writable.{}.tmp", std::process::id()));
    let written = fs::create_dir_all(out)
        .and_then(|()| File::create(&trial))
        .and_then(|_| fs::remove_file(&trial));
    written.with_context(|| {
        format!("cannot write in the folder {shown}; name a writable one with --out")
    })
}

/// Makes the folder that the caller named, or uses it if it exists and is empty.
///
/// # Errors
///
/// If it is not empty, is a file, or nothing can be written in it.
pub fn create_or_use_empty(out: &Path) -> Result<PathBuf> {
    create_writable(out)?;
    let shown = out.display();
    let mut entries =
        fs::read_dir(out).with_context(|| format!("cannot read the folder {shown}"))?;
    ensure!(
        entries.next().is_none(),
        "{shown} is not empty, and results are never overwritten; name a new folder with --out, or \
         omit --out"
    );
    Ok(out.to_owned())
}

/// The relative path from the folder of a file to another folder, with `/` on every system.
///
/// # Errors
///
/// If one of them is missing.
pub fn link_from(file: &Path, dir: &Path) -> Result<String> {
    let whole = |path: &Path| {
        fs::canonicalize(path).with_context(|| format!("cannot find {}", path.display()))
    };
    let (file, dir) = (whole(file)?, whole(dir)?);
    let base: Vec<_> = file.parent().unwrap_or(Path::new("")).components().collect();
    let goal: Vec<_> = dir.components().collect();
    let common = base.iter().zip(&goal).take_while(|(a, b)| a == b).count();
    let up = base[common..].iter().map(|_| "..".to_owned());
    let down = goal[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}
