//! `wheelhouse durable dump`: jobs and dead letters as lines of JSON.

use super::place::Opened;
use super::times::date;
use anyhow::Result;
use serde_json::{Map, Value};
use std::io::{self, BufWriter, Write};
use wheelhouse_durable::store::{Dead, Entry, State};
use wheelhouse_present::console::unless_nobody_reads;

/// Prints all jobs, or all dead letters. Stops without an error if the reader of the pipe stops.
pub(super) fn dump(opened: &mut Opened, dead: bool) -> Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut line = |text: String| Ok(writeln!(out, "{text}")?);
    let walked = if dead {
        opened.each_letter(|letter| line(letter_line(letter)))
    } else {
        opened.each_job(|job| line(job_line(job)))
    };
    let flushed = out.flush().map_err(anyhow::Error::from);
    walked.and(flushed).or_else(|error| unless_nobody_reads(Err(error.downcast()?)))
}

/// A job, without a line break.
pub(super) fn job_line(job: &Entry) -> String {
    with_payload(described(job), &job.payload)
}

/// A dead letter, without a line break.
pub(super) fn letter_line(letter: &Dead) -> String {
    let mut all = described(&letter.job);
    // A dead letter has no state.
    all.remove("state");
    all.remove("visible_at");
    all.insert("died".to_owned(), date(letter.at));
    all.insert("reason".to_owned(), Value::from(letter.reason.as_str()));
    with_payload(all, &letter.job.payload)
}

/// All fields except the payload.
fn described(job: &Entry) -> Map<String, Value> {
    let mut all = Map::new();
    let mut set = |name: &str, value: Value| all.insert(name.to_owned(), value);
    match std::str::from_utf8(job.key.as_bytes()) {
        Ok(key) => set("key", Value::from(key)),
        Err(_) => set("key_hex", Value::from(hex(job.key.as_bytes()))),
    };
    set("kind", Value::from(&*job.kind));
    set("due", date(job.due));
    set("visible_at", date(job.visible_at));
    let state = match job.state {
        State::Pending => "pending",
        State::Leased(_) => "leased",
        State::Begun(_) => "begun",
        State::Closed(_) => "closed",
        State::Replaced(_) => "replaced",
    };
    set("state", Value::from(state));
    if let Some(lease) = job.state.lease() {
        set("token", Value::from(lease.token.0));
        set("lease_until", date(lease.until));
    }
    set("attempt", Value::from(job.attempt));
    set("generation", Value::from(job.generation));
    set("occurrence", Value::from(job.occurrence));
    set("policy", Value::from(job.policy.as_str()));
    all
}

/// The object with the payload as its last field. A JSON payload is copied verbatim, so no number
/// loses a digit. Its line breaks can only be between tokens, so a space can replace them.
fn with_payload(all: Map<String, Value>, payload: &[u8]) -> String {
    let (name, value) = match std::str::from_utf8(payload) {
        Ok(text) if serde_json::from_str::<Value>(text).is_ok() => {
            ("payload", text.replace(['\n', '\r'], " "))
        }
        Ok(text) => ("payload_text", Value::from(text).to_string()),
        Err(_) => ("payload_hex", Value::from(hex(payload)).to_string()),
    };
    let mut line = Value::Object(all).to_string();
    line.truncate(line.len() - 1);
    line + &format!(",\"{name}\":{}}}", value.trim())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

#[cfg(test)]
mod tests {
    use super::super::entry;
    use super::*;

    fn line(key: &[u8], payload: &[u8]) -> (String, Value) {
        let job = Entry { payload: payload.to_vec(), ..entry(key) };
        let line = job_line(&job);
        assert_eq!(line.lines().count(), 1, "{line}");
        let value = serde_json::from_str(&line).unwrap();
        (line, value)
    }

    #[test]
    fn a_payload_is_json_or_text_or_bytes() {
        let pretty = b"{\n  \"id\": 12345678901234567890123,\r\n  \"a\": \"b\\n\"\n}\n";
        let (text, value) = line(b"k", pretty);
        assert!(text.contains("12345678901234567890123"), "to the last digit: {text}");
        assert_eq!(value["payload"]["a"], "b\n");
        assert_eq!(line(b"k", b"17").1["payload"], 17);
        assert_eq!(line(b"k", b"it's \"text\"\n").1["payload_text"], "it's \"text\"\n");
        assert_eq!(line(b"k", b"").1["payload_text"], "");
        assert_eq!(line(b"k", &[0xFF, 0]).1["payload_hex"], "ff00");
    }

    #[test]
    fn a_key_is_text_or_bytes() {
        assert_eq!(line(b"order-1", b"1").1["key"], "order-1");
        assert_eq!(line(&[0xFF, 1], b"1").1["key_hex"], "ff01");
    }
}
