//! The demo, played to its end by the real binary: the main job with a real restart of a real process.

use crate::run::dogwatch;

#[test]
fn the_demo_ends_with_a_cure() {
    let run = dogwatch(&["demo"]);
    let text = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(run.code, 0, "{text}");
    let mut rest = run.stdout.as_str();
    for step in [
        "healthy",
        "goes silent",
        "2 of 5",
        "partial, 2 overdue",
        "asleep, 2 overdue",
        "500 asleep",
        "restarted",
        "cured it",
        "audit",
    ] {
        let at = rest.find(step).unwrap_or_else(|| panic!("{step} is missing, or comes too early: {text}"));
        rest = &rest[at..];
    }
    assert!(run.stdout.contains("green throughout"), "{text}");
}
