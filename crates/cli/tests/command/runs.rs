//! `scripts/check-runs`, in a small repository with runs and measured code.

use super::Scratch;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/check-runs");

/// Measured code, with a comment, a blank line and tests.
const CODE: &str = "\
//! Front page.

/// One.
pub fn one() -> u32 {
    // A comment.
    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn one() {
        assert_eq!(super::one(), 1);
    }
}
";

/// The digest of a file that contains `abc`.
const DIGEST: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct Repository(Scratch);

impl Repository {
    /// A repository with measured code, and two runs of its first commit.
    fn new() -> Self {
        let it = Self(Scratch::new());
        it.git(&["init", "--quiet"]);
        for name in ["code", "comments", "tested", "removed"] {
            it.write(&format!("crates/core/src/{name}.rs"), CODE);
        }
        it.write("crates/service/src/lib.rs", CODE);
        it.write("scripts/check-runs", &fs::read_to_string(SCRIPT).unwrap());
        it.commit();
        let head = it.git(&["rev-parse", "HEAD"]);
        for (name, file) in [("REFERENCE", "run.json"), ("PEERS", "rows.json")] {
            it.write(&format!("results/{name}"), &format!("of-{name}\n"));
            it.write(&format!("results/of-{name}/{file}"), "abc");
            let report = format!("- commit: {head}\n- SHA-256 of {file}: {DIGEST}\n");
            it.write(&format!("results/of-{name}/report.md"), &report);
        }
        let run = it.0.path("results/of-REFERENCE/run.json");
        assert!(Command::new("gzip").arg(run).status().unwrap().success());
        it.commit();
        it
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path(name);
        fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A command in the repository. It is not affected by a git hook that runs the tests.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path(""));
        for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            command.env_remove(variable);
        }
        command
    }

    fn git(&self, arguments: &[&str]) -> String {
        let author = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
        let mut git = self.command("git");
        let output = git.args(author).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--message", "A commit"]);
    }

    /// Runs the script. Returns its output and its messages.
    fn check(&self) -> (Output, String) {
        let output = self.command("bash").arg("scripts/check-runs").output().unwrap();
        let messages = String::from_utf8(output.stderr.clone()).unwrap();
        (output, messages)
    }
}

#[test]
fn measured_code_that_changed_is_named_and_comments_and_tests_are_not() {
    let repository = Repository::new();
    let (unchanged, messages) = repository.check();
    assert!(unchanged.status.success() && messages.is_empty(), "{messages}");
    let change = |name: &str, from, to| repository.write(name, &CODE.replace(from, to));
    change("crates/core/src/code.rs", "    1\n", "    2\n");
    change("crates/core/src/comments.rs", "    // A comment.\n", "\n    // Another.\n\n");
    change("crates/core/src/tested.rs", "super::one(), 1", "1, super::one()");
    change("crates/service/src/lib.rs", "    1\n", "    2\n");
    fs::remove_file(repository.0.path("crates/core/src/removed.rs")).unwrap();
    let (changed, messages) = repository.check();
    assert!(changed.status.success(), "{messages}");
    let named = "crates/core/src/code.rs crates/core/src/removed.rs";
    let line = |name| format!("changed since the run of results/{name}, make a new one: {named}\n");
    assert_eq!(messages, line("REFERENCE") + &line("PEERS"));
}

#[test]
fn a_run_that_is_not_the_run_of_its_report_fails() {
    for (file, name) in [("run.json.gz", "REFERENCE"), ("rows.json", "PEERS")] {
        let repository = Repository::new();
        let run = format!("results/of-{name}/{file}");
        repository.write(&run, "abd");
        let (output, messages) = repository.check();
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.contains(&format!("{run} is not the run that")), "{messages}");
    }
}
