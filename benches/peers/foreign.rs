//! Builds and runs programs in other languages as structures.

use crate::adapters::ours::Ours;
use crate::competitor;
use anyhow::{Context, Result, ensure};
use std::cell::RefCell;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::str::FromStr;
use tempfile::{NamedTempFile, TempDir};
use wheelhouse_benches::foreign::{Answer, Clock, Program, file, part_of, quoted};
use wheelhouse_harness::model::ExternalStructure;
use wheelhouse_harness::stream::{ExpectedAnswers, Stream};
use wheelhouse_harness::structure::{StreamPlay, Structure, Structures};
use wheelhouse_machine::clock::WorkTime;
use wheelhouse_oracle::OracleDefinition;
use wheelhouse_present::console::say;
use wheelhouse_workload::{Checksum, Op};

/// A program in `benches/foreign`, the working directory of the scripts. `$OUT` is the folder for
/// its build.
struct Recipe {
    name: &'static str,
    clock: Clock,
    /// How to install the toolchain.
    remedy: &'static str,
    /// A script that prints the version, or nothing if the toolchain is not installed.
    version: &'static str,
    build: &'static str,
    /// A script that executes the program; `$0` is the file of the stream.
    run: &'static str,
}

const RECIPES: [Recipe; 4] = [
    Recipe {
        name: "go-timers",
        clock: Clock::Real,
        remedy: "apt-get install golang-go",
        version: "go version | cut -d ' ' -f 3",
        build: "go build -o \"$OUT/go-timers\" play.go runtime.go",
        run: "exec \"$OUT/go-timers\" \"$0\"",
    },
    Recipe {
        name: "java-executor",
        clock: Clock::Real,
        remedy: "apt-get install default-jdk-headless (Java 17 or newer)",
        version: "javac -version",
        build: "javac -d \"$OUT\" Play.java Executor.java",
        run: "exec java -cp \"$OUT\" Play Executor \"$0\"",
    },
    Recipe {
        name: "netty-wheel",
        clock: Clock::Real,
        remedy: "apt-get install default-jdk-headless libnetty-java, or NETTY_JAR=JARS",
        version: "cd \"$OUT\" && jar xf \"${NETTY_JAR%%:*}\" $VERSIONS && \
                  sed -n 's/^netty-common.version=/netty-common /p' $VERSIONS",
        build: "javac -d \"$OUT\" -cp \"$NETTY_JAR\" Play.java Netty.java",
        run: "exec java -cp \"$OUT:$NETTY_JAR\" Play Netty \"$0\"",
    },
    Recipe {
        name: "libevent",
        clock: Clock::Virtual,
        remedy: "apt-get install g++ libevent-dev",
        version: "echo libevent LIBEVENT_VERSION | \
                  c++ -E -P -include event2/event.h -x c++ - | tail -n 1",
        build: "c++ -O2 -o \"$OUT/libevent\" libevent.cc -levent_core",
        run: "exec \"$OUT/libevent\" \"$0\"",
    },
];

/// The jars of Debian's Netty.
const NETTY: &str = "/usr/share/java/netty-common.jar:/usr/share/java/jctools-core.jar";

/// A program that the user names, as `NAME=real:PATH` or `NAME=virtual:PATH`.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    name: String,
    clock: Clock,
    path: String,
}

impl FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').and_then(|(name, program)| {
            let (clock, path) = program.split_once(':')?;
            let clock = match clock {
                "real" => Clock::Real,
                "virtual" => Clock::Virtual,
                _ => return None,
            };
            Some(Self { name: name.to_owned(), clock, path: path.to_owned() })
        });
        parts.filter(|it| !it.name.is_empty() && !it.path.is_empty()).ok_or_else(|| {
            "write NAME=real:PATH for a program on real time, NAME=virtual:PATH for a program \
             that runs on the clock of the stream"
                .to_owned()
        })
    }
}

/// A script in `benches/foreign`.
fn script(text: &str, out: &Path) -> Command {
    let mut command = Command::new("sh");
    let netty = std::env::var_os("NETTY_JAR").unwrap_or_else(|| NETTY.into());
    command.arg("-c").arg(text).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/foreign"));
    command.env("OUT", out).env("NETTY_JAR", netty).env("GOPROXY", "off");
    command.env("VERSIONS", "META-INF/io.netty.versions.properties");
    command
}

/// Builds the programs whose toolchain is installed, and prints those that are skipped. Fails if a
/// program does not compile although its toolchain is installed.
pub(crate) fn all() -> Result<Structures> {
    let out = Rc::new(tempfile::tempdir().context("cannot make a temporary folder")?);
    let mut built: Structures = Vec::new();
    for recipe in &RECIPES {
        let version = script(recipe.version, out.path()).output().context("cannot start sh")?;
        let version = String::from_utf8_lossy(&version.stdout).trim().replace('"', "");
        let name = recipe.name;
        if version.is_empty() {
            say(format_args!("skipped: {name}, its toolchain is missing; {}", recipe.remedy));
            continue;
        }
        say(format_args!("building {name} ({version})"));
        let status = script(recipe.build, out.path()).status().context("cannot start sh")?;
        ensure!(status.success(), "{name} does not compile; see the message above");
        built.push(Foreign::boxed(name, version, recipe.clock, recipe.run, &out));
    }
    Ok(built)
}

/// The programs that the user names. Fails if one of them does not exist.
pub(crate) fn named(programs: &[Named], here: &Path) -> Result<Structures> {
    let out = Rc::new(tempfile::tempdir().context("cannot make a temporary folder")?);
    let structure = |it: &Named| -> Result<Box<dyn Structure>> {
        let path = here.join(&it.path);
        ensure!(path.is_file(), "{} is not a program; name one with --program", path.display());
        let run = format!("exec {} \"$0\"", quoted(&path));
        // Leaked, since names of structures are `'static`.
        let name: &'static str = Box::leak(it.name.clone().into_boxed_str());
        Ok(Foreign::boxed(name, it.path.clone(), it.clock, &run, &out))
    };
    programs.iter().map(structure).collect()
}

/// A program as a structure.
struct Foreign {
    name: &'static str,
    version: String,
    clock: Clock,
    run: String,
    out: Rc<TempDir>,
    /// The program that plays the last stream.
    current: RefCell<Option<(Rc<Prepared>, Program)>>,
}

/// A stream in a file, with the right answers.
struct Prepared {
    key: (String, u64, Checksum, Clock),
    file: NamedTempFile,
    is_own: Vec<bool>,
    right: Vec<Checksum>,
}

thread_local! {
    /// The last stream, for each clock.
    static PREPARED: RefCell<Vec<Rc<Prepared>>> = const { RefCell::new(Vec::new()) };
}

/// The file of a stream for programs with this clock. It is kept until the next stream.
fn prepared(stream: &Stream, expected: &ExpectedAnswers, clock: Clock) -> Result<Rc<Prepared>> {
    let key = (stream.name.clone(), stream.n, expected.checksum(), clock);
    PREPARED.with_borrow_mut(|all| {
        if let Some(known) = all.iter().find(|it| it.key == key) {
            return Ok(Rc::clone(known));
        }
        let part = part_of(&stream.phases, stream.labels, clock);
        let part_stream = Stream { phases: part.phases, name: String::new(), ..*stream };
        let (_, right) =
            competitor::play::<Ours<OracleDefinition>, _>(&part_stream, 0, &[], competitor::time);
        let file = NamedTempFile::new().context("cannot make a file for a stream")?;
        file::write(&part_stream.phases, stream.labels, BufWriter::new(file.as_file()))
            .with_context(|| {
                format!("cannot write {}; is the disk full?", file.path().display())
            })?;
        let prepared = Rc::new(Prepared { key, file, is_own: part.is_own, right });
        all.retain(|it| it.key.3 != clock);
        all.push(Rc::clone(&prepared));
        Ok(prepared)
    })
}

impl Foreign {
    fn boxed(
        name: &'static str,
        version: String,
        clock: Clock,
        run: &str,
        out: &Rc<TempDir>,
    ) -> Box<dyn Structure> {
        let (run, out, current) = (run.to_owned(), Rc::clone(out), RefCell::default());
        Box::new(Self { name, version, clock, run, out, current })
    }

    /// Plays a stream and returns the program's answer to each phase.
    fn answers(&self, prepared: &Rc<Prepared>) -> Result<Vec<Answer>> {
        let mut current = self.current.borrow_mut();
        let mut program = match current.take() {
            Some((of, program)) if Rc::ptr_eq(&of, prepared) => program,
            _ => Program::start(&mut script(&self.run, self.out.path()), prepared.file.path())?,
        };
        program.restart()?;
        let answers = (0..prepared.right.len()).map(|_| program.play()).collect::<Result<_>>()?;
        *current = Some((Rc::clone(prepared), program));
        Ok(answers)
    }

    /// The time of a phase. If a program on real time waits until all timers are due, only the
    /// program knows which time to count. Other waiting of a program is part of its time, not a
    /// disturbance.
    fn time(&self, taken: WorkTime, is_firing: bool) -> WorkTime {
        let is_waiting = is_firing && self.clock == Clock::Real;
        let time = if is_waiting { taken.elapsed } else { taken.time() };
        WorkTime { elapsed: time, running: time }
    }
}

impl Structure for Foreign {
    fn name(&self) -> &'static str {
        self.name
    }

    fn external(&self) -> Option<ExternalStructure> {
        let of_clock = match self.clock {
            Clock::Virtual => "it does not report its next wake-up",
            Clock::Real => {
                "it runs on real time, and plays only phases that fire no timer, or all at once"
            }
        };
        let of_process = "a process that plays a stream again has its memory already";
        let cannot = vec![of_clock.to_owned(), of_process.to_owned()];
        Some(ExternalStructure {
            name: self.name.to_owned(),
            version: self.version.clone(),
            cannot,
        })
    }

    fn can_play(&self, stream: &Stream, expected: &ExpectedAnswers) -> bool {
        // A program keeps one timer per label.
        if expected.script.is_none() {
            return false;
        }
        match prepared(stream, expected, self.clock) {
            Ok(prepared) => {
                let mut phases = stream.phases.iter().zip(&prepared.is_own);
                phases.any(|(phase, is_own)| phase.measure.is_some() && *is_own)
            }
            Err(error) => {
                say(format_args!("skipped: {} on {}: {error:#}", self.name, stream.name));
                false
            }
        }
    }

    fn play(&self, stream: &Stream, expected: &ExpectedAnswers) -> StreamPlay {
        let answers = prepared(stream, expected, self.clock)
            .and_then(|prepared| Ok((self.answers(&prepared)?, prepared)));
        let (answers, prepared) = match answers {
            Ok(answers) => answers,
            Err(error) => {
                say(format_args!("{}: {error:#}", self.name));
                let checksums = expected.checksums.iter().map(|right| other_than(*right, 0));
                let times = vec![None; stream.phases.len()];
                return StreamPlay { times, checksums: checksums.collect() };
            }
        };
        let mut played = StreamPlay { times: Vec::new(), checksums: Vec::new() };
        for (at, answer) in answers.iter().enumerate() {
            let fires = matches!(stream.phases[at].ops.as_slice(), [Op::Advance { .. }]);
            played.times.push(prepared.is_own[at].then(|| self.time(answer.taken, fires)));
            // The harness compares with checksums of ordered answers to the whole stream. If the
            // program's checksum is right, the ordered one is returned in its place.
            let is_right = answer.checksum == prepared.right[at].get();
            let right = expected.checksums[at];
            let checksum = if is_right { right } else { other_than(right, answer.checksum) };
            played.checksums.push(checksum);
        }
        played
    }
}

/// A checksum that is not the right one.
fn other_than(right: Checksum, answer: u64) -> Checksum {
    let mut wrong = right;
    wrong.add(answer);
    wrong
}
