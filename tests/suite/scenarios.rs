//! The table of scenarios: that no row is forgotten, and how `tests/scenarios/table` prints it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::run::root;

/// A line of `tests/scenarios/rows.txt`.
struct Row {
    name: String,
    right: String,
    is_simulated: bool,
    /// Whether the proof on real components plays it.
    is_real: bool,
    /// Why nobody plays it.
    not: Option<String>,
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(root().join("tests/scenarios/rows.txt")).expect("readable");
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(row).collect()
}

fn row(line: &str) -> Row {
    let fields: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
    let [name, right, played, _] = fields[..] else { panic!("four fields: {line}") };
    let not = played.strip_prefix("not: ").map(str::to_owned);
    let is = |wanted: &str| not.is_none() && played.split(", ").any(|way| way == wanted);
    let (is_simulated, is_real) = (is("simulated"), is("real"));
    Row { name: name.to_owned(), right: right.to_owned(), is_simulated, is_real, not }
}

/// Every text of one folder's sources that stands between two marks.
fn between(folder: &str, before: &str, after: char) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("readable");
        let parts = text.split(before).skip(1);
        found.extend(parts.filter_map(|part| part.split(after).next()).map(str::to_owned));
    }
    found
}

/// The rows that the proof plays: `scenario("NAME"`, and `.plays("ROW")` behind it where the row is another.
fn played_by_the_proof() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("tests/real/proof/scenario.rs")).expect("readable");
    let quoted = |text: &str| text.split('"').next().unwrap_or_default().to_owned();
    let scenarios = text.split("scenario(\"").skip(1);
    scenarios.map(|part| part.split_once(".plays(\"").map_or_else(|| quoted(part), |(_, row)| quoted(row))).collect()
}

/// How a row's tests begin.
fn snake(name: &str) -> String {
    // A name of Rust cannot begin with a digit.
    name.replace("410-loop", "gone-loop").replace('-', "_")
}

#[test]
fn every_row_is_played_and_every_scenario_has_a_row() {
    let rows = rows();
    let names: BTreeSet<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a row stands twice");
    let tests = between("src/sidecar/tests/scenario", "\nasync fn ", '(');
    let is_of = |test: &str, name: &str| {
        test.strip_prefix(&snake(name)).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let owner = |test: &str| names.iter().filter(|name| is_of(test, name)).max_by_key(|name| name.len()).copied();
    let simulated: BTreeSet<&str> = tests.iter().filter_map(|test| owner(test)).collect();
    let real = played_by_the_proof();
    for row in &rows {
        let name = row.name.as_str();
        assert_eq!(row.is_simulated, simulated.contains(name), "{name}: is there a test {}?", snake(name));
        assert_eq!(row.is_real, real.contains(name), "{name}: does the proof play it?");
        assert!(row.is_simulated || row.is_real || row.not.is_some(), "{name} is played by nobody");
    }
    for name in &real {
        assert!(names.contains(name.as_str()), "the proof plays {name}, which has no row");
    }
    for beginning in ["begin", "with", "set", "two_kinds"] {
        for name in between("src/sidecar/tests/scenario", &format!("Play::{beginning}(\""), '"') {
            assert!(names.contains(name.as_str()), "{name} has no row");
        }
    }
}

/// Prints the table. Scenarios leave a line of JSON each in the folder that `DOGWATCH_SCENARIOS` names.
#[test]
#[ignore = "prints what other tests leave: run by tests/scenarios/table"]
#[expect(clippy::disallowed_macros, reason = "the table is printed")]
fn the_table() {
    let folder = std::env::var_os("DOGWATCH_SCENARIOS").expect("run by tests/scenarios/table");
    let mut played: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(&folder)).expect("a folder") {
        let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("readable");
        let line: Value = serde_json::from_str(&text).expect("JSON");
        played.entry(line["scenario"].as_str().unwrap_or_default().to_owned()).or_default().push(line);
    }
    let head =
        ["scenario", "right", "seen", "diagnosis", "evidence", "decisions", "restarts", "seconds", "naive", "where"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let mut counts = (0, 0, 0);
    for row in rows() {
        let mut found = played.remove(&row.name).unwrap_or_default();
        found.sort_by_key(|line| line["variant"].as_str().map(str::to_owned));
        counts.0 += usize::from(found.iter().any(|line| line["where"] == "simulated"));
        counts.1 += usize::from(found.iter().any(|line| line["where"] == "real"));
        if found.is_empty() {
            counts.2 += 1;
            let why = row.not.clone().unwrap_or_else(|| "not played this time".to_owned());
            lines.push([row.name.clone(), row.right.clone(), why].to_vec());
        }
        lines.extend(found.iter().map(|line| cells(&row, line)));
    }
    println!("\n{}", aligned(&lines));
    println!("{} rows simulated, {} on real components, {} not played", counts.0, counts.1, counts.2);
}

fn cells(row: &Row, line: &Value) -> Vec<String> {
    let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
    let variant = text("variant");
    let name = if variant.is_empty() { row.name.clone() } else { format!("{}: {variant}", row.name) };
    let decisions = line["decisions"].as_array().map_or(&[][..], Vec::as_slice);
    let decisions: Vec<&str> = decisions.iter().filter_map(Value::as_str).collect();
    let outcome = |word: &str| match line[word].as_u64() {
        None | Some(0) => String::new(),
        Some(count) => format!(" {count} {word}"),
    };
    let restarts = format!("{}{}{}", line["restarts"], outcome("cured"), outcome("fruitless"));
    let naive = line["naive"].as_u64().map_or_else(|| "-".to_owned(), |count| count.to_string());
    let seconds = line["seconds"].as_f64().map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.0}"));
    let decisions = shortened(&decisions);
    let (seen, diagnosis, evidence) = (text("seen"), text("diagnosis"), text("evidence"));
    vec![name, row.right.clone(), seen, diagnosis, evidence, decisions, restarts, seconds, naive, text("where")]
}

/// The first decisions; who goes round in circles does so for long.
fn shortened(decisions: &[&str]) -> String {
    const MOST: usize = 5;
    let more = if decisions.len() > MOST { format!(" +{}", decisions.len() - MOST) } else { String::new() };
    format!("{}{more}", decisions[..decisions.len().min(MOST)].join(" > "))
}

fn aligned(lines: &[Vec<String>]) -> String {
    let width = |column: usize| {
        // A reason that stands alone in its line may reach over the columns after it.
        let cells = lines.iter().filter(|line| line.len() > 3).filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let line = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}
