use proptest::prelude::*;

use super::Scan;

fn end(text: &str) -> Option<usize> {
    Scan::default().advance(text.as_bytes())
}

/// Where a map or a list ends, told byte by byte.
fn slow_end(bytes: &[u8]) -> Option<usize> {
    let (open, close) = if bytes[0] == b'{' { (b'{', b'}') } else { (b'[', b']') };
    let (mut depth, mut is_text, mut is_escaped) = (0, false, false);
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            byte if byte == open => depth += 1,
            byte if byte == close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[test]
fn a_value_ends_where_its_brackets_close() {
    assert_eq!(end(r#"{"a":[1,{"b":"}]\"{"}]} tail"#), Some(23));
    assert_eq!(end(r"[] "), Some(2));
    assert_eq!(end(r#""te\\xt",1"#), Some(8));
    assert_eq!(end("12.5e3,"), Some(6));
    assert_eq!(end("nu"), None);
}

#[test]
fn brackets_of_the_other_kind_are_not_looked_at() {
    assert_eq!(end("{[}, "), Some(3));
    assert_eq!(end("[}}], "), Some(4));
}

#[test]
fn the_end_is_the_same_wherever_the_chunks_are_cut() {
    let text = r#"{"k\"\\":{"a":["x\u0022",[],{}],"b":-1.5e9},"z":"\\"}rest"#;
    let whole = end(text).expect("the value ends");
    for cut in 0..text.len() {
        let mut scan = Scan::default();
        let found = scan
            .advance(&text.as_bytes()[..cut])
            .or_else(|| scan.advance(&text.as_bytes()[cut..]).map(|more| cut + more));
        assert_eq!(found, Some(whole), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Long enough for several blocks, and more often deep than not.
    #[test]
    fn the_end_of_any_bytes_is_found_in_any_chunks(
        open in prop::sample::select(&b"{["[..]),
        rest in prop::collection::vec(prop::sample::select(&b"{{{}}[[[]]\"\"\"\"\\\\aaaaaaaaaaaaaaaaaaaa,: \xff"[..]), 0..400),
        sizes in prop::collection::vec(1_usize..150, 1..20),
    ) {
        let bytes = [&[open][..], &rest].concat();
        let (mut scan, mut at, mut found) = (Scan::default(), 0, None);
        for size in sizes.iter().cycle() {
            let next = (at + size).min(bytes.len());
            found = scan.advance(&bytes[at..next]).map(|more| at + more);
            at = next;
            if found.is_some() || at == bytes.len() {
                break;
            }
        }
        prop_assert_eq!(found, slow_end(&bytes));
    }
}
