use proptest::prelude::*;

use super::{oracle, read};
use crate::judge::object::mask::{Mask, OTHERS};
use crate::judge::object::tree::Fault;

/// Few and short, so that masks and values meet.
const KEYS: [&str; 7] = ["a", "b", "c", "metadata", "a long key of more than sixteen bytes", "q\"\\\n", "é"];

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(&KEYS[..]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![key(), "[a-z]{0,40}", "[\\[\\]{}\",:\\\\/\u{0}\u{8}\n\u{1f}\u{7f}é€😀 a]{0,40}",]
}

/// A string as somebody may write it, which is more than `serde_json` writes.
fn written(text: &str, form: u8) -> String {
    let plain = serde_json::to_string(text).expect("text");
    match form {
        0 => {
            let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{}\"", units.concat())
        }
        1 => plain.replace('/', "\\/"),
        _ => plain,
    }
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        (-20_i64..20).prop_map(|number| number.to_string()),
        any::<f64>().prop_filter("JSON has none", |number| number.is_finite()).prop_map(|number| format!("{number:e}")),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,3})?",
    ]
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => Just(" "), 1 => Just("\r\n\t ")]
}

fn string() -> impl Strategy<Value = String> {
    (text(), 0_u8..6).prop_map(|(text, form)| written(&text, form))
}

/// The text of a JSON value. Keys may stand twice in a map.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(&["null", "true", "false", "[]", "{}"][..]).prop_map(str::to_owned),
        number(),
        string(),
    ];
    let named = || (key(), 0_u8..12).prop_map(|(key, form)| written(&key, form));
    leaf.prop_recursive(6, 60, 6, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..6).prop_map(|items| items.join(","));
        let entry = (named(), space(), inner).prop_map(|(key, space, value)| format!("{key}{space}:{space}{value}"));
        let map = prop::collection::vec(entry, 0..7);
        prop_oneof![
            (list, space()).prop_map(|(items, space)| format!("[{space}{items}{space}]")),
            (map, space())
                .prop_map(|(entries, space)| format!("{{{space}{}{space}}}", entries.join(&format!("{space},")))),
        ]
    })
}

fn mask() -> impl Strategy<Value = Mask> {
    let part = prop_oneof![6 => key(), 1 => Just(OTHERS.to_owned())];
    let path = (prop::collection::vec(part, 0..5), any::<bool>());
    prop::collection::vec(path, 0..8).prop_map(|paths| {
        paths.iter().fold(Mask::new(), |mask, (path, is_whole)| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            if *is_whole { mask.whole(&path) } else { mask.presence(&path) }
        })
    })
}

/// A text in which something was cut out, doubled or replaced.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![prop::sample::select(&b"{}[]\",:\\u0-.e1tfn \n\x00\xff\xc3"[..]), any::<u8>()];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, prop::option::of(byte)), 1..4);
    (json(), edits).prop_map(|(json, edits)| {
        let mut bytes = json.into_bytes();
        for (at, removed, byte) in edits {
            let from = at.index(bytes.len() + 1);
            let to = (from + removed).min(bytes.len());
            bytes.splice(from..to, byte);
        }
        bytes
    })
}

fn whole() -> Mask {
    Mask::new().whole(&[])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn json_is_read_as_serde_json_reads_it(json in json(), mask in mask()) {
        let expected = oracle::read(json.as_bytes(), &mask);
        prop_assert_eq!(read(json.as_bytes(), &mask).map_err(|error| error.fault), expected);
        let expected = oracle::read(json.as_bytes(), &whole());
        prop_assert_eq!(read(json.as_bytes(), &whole()).map_err(|error| error.fault), expected);
    }

    #[test]
    fn what_is_read_whole_is_refused_where_serde_json_refuses_it(bytes in damaged()) {
        prop_assert_eq!(read(&bytes, &whole()).ok(), oracle::read(&bytes, &whole()).ok());
    }

    /// Under a mask more is accepted, and nothing is read in another way.
    #[test]
    fn what_serde_json_accepts_is_read_alike(bytes in damaged(), mask in mask()) {
        let tree = read(&bytes, &mask);
        if let Ok(expected) = oracle::read(&bytes, &mask) {
            prop_assert_eq!(tree, Ok(expected));
        }
    }

    #[test]
    fn no_bytes_are_too_bad(bytes in prop::collection::vec(any::<u8>(), 0..200), mask in mask()) {
        prop_assert_eq!(read(&bytes, &whole()).ok(), oracle::read(&bytes, &whole()).ok());
        let _ = read(&bytes, &mask);
    }
}

#[test]
fn values_may_be_nested_as_deep_as_serde_json_allows() {
    for depth in [126, 127, 128, 129, 500] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let json = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let tree = read(json.as_bytes(), &whole()).map_err(|error| error.fault);
            assert_eq!(tree, oracle::read(json.as_bytes(), &whole()), "{depth} times {open}");
            assert_eq!(tree.is_ok(), depth < 128);
        }
    }
}

#[test]
fn a_fault_says_where_it_is() {
    let fault = |json: &str| {
        let error = read(json.as_bytes(), &Mask::new().whole(&["a"])).expect_err("a fault");
        (error.fault, error.line, error.column)
    };
    assert_eq!(fault("{\"a\":\n  nil}"), (Fault::NotJson, 2, 3));
    assert_eq!(fault("{\"a\":1"), (Fault::EndsEarly, 1, 7));
    assert_eq!(fault("{\"a\":1,\"a\":2}"), (Fault::DuplicateKey, 1, 13));
    assert_eq!(fault("{\"a\":\"\\x\"}"), (Fault::NotJson, 1, 7));
    assert_eq!(fault("{\"z\":[[\"]\"}"), (Fault::EndsEarly, 1, 6));
}

#[test]
fn what_is_not_read_only_has_to_balance() {
    let mask = Mask::new().whole(&["a"]);
    for unread in ["[}]", "{]}", "{1 2}", "[\"\\x\"]", "[\"\u{1}\"]", "[tru]", "\"\\x\""] {
        let json = format!(r#"{{"z":{unread},"a":1}}"#);
        assert!(read(json.as_bytes(), &mask).is_ok(), "{unread}");
    }
    for unread in ["[", "[}", "\"", "]", "", "tru", "01", "-", "1.", "\"\u{1}\"", "{}{}"] {
        let json = format!(r#"{{"z":{unread},"a":1}}"#);
        assert!(read(json.as_bytes(), &mask).is_err(), "{unread}");
    }
}

#[test]
fn what_is_not_read_may_be_other_than_utf8() {
    let mask = Mask::new().whole(&["a"]);
    assert!(read(b"{\"z\":\"\xff\",\"a\":\"\xc3\xa9\"}", &mask).is_ok());
    assert!(read(b"{\"z\":\"\",\"a\":\"\xff\"}", &mask).is_err());
    assert!(read(b"{\"z\":\"\",\"\xff\":1}", &mask).is_err());
}
