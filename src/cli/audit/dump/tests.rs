use std::io::Write;

use super::{Dump, Error};
use crate::judge::cut::Piece;

/// Reads a file with this content.
fn read(content: &[u8], name: &str) -> (Vec<String>, Result<(), Error>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::File::create(&path).and_then(|mut file| file.write_all(content)).expect("written");
    let dump = Dump::open(&[path]).expect("opened");
    let mut pieces = Vec::new();
    let end = dump.files()[0].pieces(1 << 20, &mut |piece| {
        pieces.push(match piece {
            Piece::Item(bytes) | Piece::Document(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Piece::Envelope(_) => "envelope".to_owned(),
            Piece::TooLarge { bytes } => format!("too large {bytes}"),
        });
    });
    (pieces, end)
}

fn fault(content: &[u8], name: &str) -> String {
    let error = read(content, name).1.expect_err("refused").to_string();
    error.rsplit('/').next().unwrap_or_default().to_owned()
}

#[test]
fn json_and_yaml_give_the_same_objects() {
    let expected = [r#"{"kind":"A","spec":{"n":1,"t":"x"}}"#, r#"{"kind":"B"}"#];
    let json = br#"{"kind":"A","spec":{"n":1,"t":"x"}}{"kind":"B"}"#;
    assert_eq!(read(json, "a.json").0, expected);
    let yaml = b"# a comment\n---\nkind: A\nspec:\n  n: 1\n  t: x\n---\n---\nkind: B\n";
    assert_eq!(read(yaml, "a.yaml").0, expected);
    let windows = b"\xEF\xBB\xBFkind: A\r\nspec: {n: 1, t: x}\r\n---\r\nkind: B\r\n";
    assert_eq!(read(windows, "a.yaml").0, expected);
}

#[test]
fn a_yaml_list_is_cut_into_its_items() {
    let yaml = b"kind: List\nitems:\n- kind: A\n- kind: B\n";
    assert_eq!(read(yaml, "a.yml").0, [r#"{"kind":"A"}"#, r#"{"kind":"B"}"#, "envelope"]);
}

#[test]
fn a_file_that_is_neither_is_named_with_line_and_column() {
    assert_eq!(fault(b"{\"kind\":\n  tru}", "a.json"), "a.json:2:6: not JSON");
    assert_eq!(fault(b"{\"items\":[{}", "a.json"), "a.json:1:12: the JSON ends too early");
    assert!(
        fault(b"kind: A\n  bad: [\n", "a.yaml").starts_with("a.yaml:2:"),
        "{}",
        fault(b"kind: A\n  bad: [\n", "a.yaml")
    );
}

#[test]
fn what_stands_before_the_fault_is_read() {
    let (pieces, end) = read(b"{\"items\":[{\"kind\":\"A\"},{\"ki", "a.json");
    assert_eq!(pieces, [r#"{"kind":"A"}"#]);
    assert!(end.is_err());
    let (pieces, end) = read(b"kind: A\n---\nkind: [\n---\nkind: C\n", "a.yaml");
    assert_eq!(pieces, [r#"{"kind":"A"}"#]);
    assert!(end.expect_err("refused").to_string().contains("the rest of the file was not read"));
}

#[test]
fn every_kind_of_value_is_carried_over() {
    let yaml = "kind: A\nspec: {a: [], b: {}, c: [1, -2, 1.5, [x]], d: null, e: true, f: \"q\\\"\", 7: ~, g: 123456789012345678901234567890}\n";
    let json = r#"{"kind":"A","spec":{"a":[],"b":{},"c":[1,-2,1.5,["x"]],"d":null,"e":true,"f":"q\"","7":null,"g":1.2345678901234568e+29}}"#;
    assert_eq!(read(yaml.as_bytes(), "a.yaml").0, [json]);
}

#[test]
fn a_bomb_is_refused() {
    let mut yaml = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        yaml.extend([format!("a{level}: &a{level} ["), [before.as_str(); 10].join(","), "]\n".to_owned()]);
    }
    assert!(read(yaml.as_bytes(), "a.yaml").1.is_err());
}

#[test]
fn folders_are_walked_and_missing_paths_named() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("b/c")).expect("made");
    for name in ["b/c/2.yaml", "a.JSON", "b/1.txt"] {
        std::fs::write(folder.path().join(name), "kind: A").expect("written");
    }
    let dump = Dump::open(&[folder.path().to_owned()]).expect("opened");
    let names: Vec<_> = dump.files().iter().map(|file| file.name().rsplit('/').next().unwrap_or_default()).collect();
    assert_eq!(names, ["a.JSON", "2.yaml"]);
    assert!(matches!(Dump::open(&[folder.path().join("none")]), Err(Error::Read { .. })));
    std::fs::create_dir(folder.path().join("empty")).expect("made");
    assert!(matches!(Dump::open(&[folder.path().join("empty")]), Err(Error::Empty { .. })));
}

#[test]
fn deep_values_are_read_and_bottomless_ones_refused() {
    let deep = |levels: usize| format!("kind: A\nspec: {}1{}\n", "{a: ".repeat(levels), "}".repeat(levels));
    assert!(read(deep(100).as_bytes(), "a.yaml").1.is_ok());
    assert!(read(deep(5000).as_bytes(), "a.yaml").1.is_err());
}
