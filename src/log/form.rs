//! Writes one line for each event.

use std::fmt::{self, Write as _};
use std::io::Write;

use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use super::Format;
use crate::clock;

/// Writes every event as one line, in one call, so that lines of two threads do not mix.
#[derive(Debug)]
pub(super) struct Lines<W> {
    format: Format,
    open: W,
}

impl<W> Lines<W> {
    pub(super) const fn new(format: Format, open: W) -> Self {
        Self { format, open }
    }
}

impl<S: Subscriber, O: Write, W: Fn() -> O + 'static> Layer<S> for Lines<W> {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields { message: Value::Null, others: Vec::new() };
        event.record(&mut fields);
        let level = event.metadata().level().as_str().to_lowercase();
        let time = clock::wall().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let head = [("time", time.into()), ("level", level.into()), ("msg", fields.message)];
        let all = head.into_iter().chain(fields.others);
        let line = match self.format {
            Format::Text => text(all),
            Format::Json => format!("{}\n", object(all)),
        };
        // There is nobody to tell that the log cannot be written.
        let _ = (self.open)().write_all(line.as_bytes());
    }
}

fn text(fields: impl Iterator<Item = (&'static str, Value)>) -> String {
    let mut line = String::new();
    for (key, value) in fields {
        if !line.is_empty() {
            line.push(' ');
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_plain = !value.is_empty()
            && value.chars().all(|character| character.is_ascii_graphic() && !matches!(character, '"' | '=' | '\\'));
        // Writing into a String does not fail.
        let _ = if is_plain { write!(line, "{key}={value}") } else { write!(line, "{key}={value:?}") };
    }
    line.push('\n');
    line
}

/// In the order of the fields, which a map would lose.
fn object(fields: impl Iterator<Item = (&'static str, Value)>) -> String {
    let members: Vec<String> = fields.map(|(key, value)| format!("{}:{value}", Value::from(key))).collect();
    format!("{{{}}}", members.join(","))
}

/// The fields of an event in their order; those without a value are left out.
struct Fields {
    message: Value,
    others: Vec<(&'static str, Value)>,
}

impl Fields {
    fn note(&mut self, field: &Field, value: Value) {
        if field.name() == "message" {
            self.message = value;
        } else {
            self.others.push((field.name(), value));
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.note(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.note(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.note(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.note(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.note(field, format!("{value:?}").into());
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("unpoisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: Format, log: impl FnOnce()) -> String {
        let sink = Sink::default();
        let open = sink.clone();
        let subscriber = tracing_subscriber::registry().with(Lines::new(format, move || open.clone()));
        tracing::subscriber::with_default(subscriber, log);
        let bytes = sink.0.lock().expect("unpoisoned").clone();
        String::from_utf8(bytes).expect("text")
    }

    fn example() {
        let none: Option<&str> = None;
        tracing::warn!(operator = "db", oldest = "prod/a=b", overdue = 3_u64, lastAck = none, "asleep \"now\"");
    }

    #[test]
    fn a_line_is_logfmt_and_what_has_no_value_is_left_out() {
        let line = logged(Format::Text, example);
        let (time, rest) = line.split_once(' ').expect("several fields");
        assert!(time.starts_with("time=2") && time.ends_with('Z'), "{time}");
        assert_eq!(rest, "level=warn msg=\"asleep \\\"now\\\"\" operator=db oldest=\"prod/a=b\" overdue=3\n");
    }

    #[test]
    fn a_line_of_json_holds_the_same() {
        let value: Value = serde_json::from_str(&logged(Format::Json, example)).expect("JSON");
        assert_eq!(value["msg"], "asleep \"now\"");
        assert_eq!((&value["level"], &value["overdue"]), (&"warn".into(), &3.into()));
        assert!(value.get("lastAck").is_none());
    }

    #[test]
    fn what_a_server_says_cannot_break_the_line() {
        let line = logged(Format::Text, || tracing::info!(problem = "two\nlines \u{1b}[2J", "x"));
        assert_eq!(line.matches('\n').count(), 1);
        assert!(!line.contains('\u{1b}'));
    }
}
