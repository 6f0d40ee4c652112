use super::{Cutter, Error, Piece};

fn text(piece: &Piece<'_>) -> String {
    let show = |name: &str, bytes: &[u8]| format!("{name} {}", String::from_utf8_lossy(bytes));
    match piece {
        Piece::Item(bytes) => show("item", bytes),
        Piece::Envelope(bytes) => show("envelope", bytes),
        Piece::Document(bytes) => show("document", bytes),
        Piece::TooLarge { bytes } => format!("too large {bytes}"),
    }
}

/// Cuts `input` handed over in chunks of `size` bytes.
fn cut(input: &str, size: usize, limit: usize) -> (Vec<String>, Result<(), Error>) {
    let mut pieces = Vec::new();
    let mut cutter = Cutter::new(limit);
    for chunk in input.as_bytes().chunks(size) {
        if let Err(error) = cutter.feed(chunk, &mut |piece| pieces.push(text(&piece))) {
            return (pieces, Err(error));
        }
    }
    (pieces, cutter.finish())
}

/// The answer must not depend on how the bytes arrive.
fn cut_anyhow(input: &str, limit: usize) -> (Vec<String>, Result<(), Error>) {
    let whole = cut(input, input.len().max(1), limit);
    for size in 1..input.len().min(40) {
        assert_eq!(cut(input, size, limit), whole, "in chunks of {size}");
    }
    whole
}

#[test]
fn a_list_is_cut_into_its_items_and_its_envelope() {
    let list = r#" {"apiVersion":"v1","items":[ {"a":1} , {"b":"]}"}],"kind":"List","metadata":{"continue":"x"}} "#;
    let (pieces, end) = cut_anyhow(list, 1 << 20);
    assert_eq!(end, Ok(()));
    assert_eq!(
        pieces,
        [
            r#"item {"a":1}"#,
            r#"item {"b":"]}"}"#,
            r#"envelope {"apiVersion":"v1","items":[],"kind":"List","metadata":{"continue":"x"}}"#,
        ]
    );
}

#[test]
fn documents_may_follow_one_another_and_a_bare_list_is_a_list() {
    let (pieces, end) = cut_anyhow("{\"a\":{\"items\":[1]}}\n{}\n[{\"c\":3},4]", 1 << 20);
    assert_eq!(end, Ok(()));
    assert_eq!(pieces, [r#"document {"a":{"items":[1]}}"#, "document {}", r#"item {"c":3}"#, "item 4", "envelope []"]);
}

#[test]
fn items_that_are_no_list_belong_to_the_object() {
    let (pieces, end) = cut_anyhow(r#"{"items":null,"kind":"K"}{"items":{"a":[]}}"#, 1 << 20);
    assert_eq!(end, Ok(()));
    assert_eq!(pieces, [r#"document {"items":null,"kind":"K"}"#, r#"document {"items":{"a":[]}}"#]);
}

#[test]
fn what_is_too_large_is_dropped_and_the_rest_is_kept() {
    let large = "x".repeat(100);
    let list = format!(r#"{{"items":[{{"a":"{large}"}},{{"b":1}}]}}{{"c":"{large}"}}{{"d":1}}"#);
    let (pieces, end) = cut_anyhow(&list, 50);
    assert_eq!(end, Ok(()));
    assert_eq!(
        pieces,
        ["too large 108", r#"item {"b":1}"#, r#"envelope {"items":[]}"#, "too large 108", r#"document {"d":1}"#]
    );
}

#[test]
fn items_before_an_error_are_handed_out() {
    let (pieces, end) = cut_anyhow(r#"{"items":[{"a":1}<html>"#, 1 << 20);
    assert_eq!(pieces, [r#"item {"a":1}"#]);
    assert_eq!(end, Err(Error::NotJson { offset: 17 }));
    for broken in ["<html>", "{\"a\" 1}", "{\"a\":}", "{,}", "[,]", "{\"a\":1,}", "[{},]", "true", "}"] {
        assert!(matches!(cut_anyhow(broken, 1 << 20).1, Err(Error::NotJson { .. })), "{broken}");
    }
}

#[test]
fn a_stream_that_ends_too_early_says_so() {
    for truncated in
        ["{", "{\"a", "{\"a\":", "{\"a\":1", "{\"items\":[", "{\"items\":[{\"a\":[", "{\"items\":[{}", "[1"]
    {
        assert!(matches!(cut_anyhow(truncated, 1 << 20).1, Err(Error::Truncated { .. })), "{truncated}");
    }
    assert_eq!(cut_anyhow("  \n", 1 << 20), (vec![], Ok(())));
}

#[test]
fn an_envelope_without_bounds_is_refused() {
    let list = format!(r#"{{"metadata":"{}","items":[{{}}]}}"#, "x".repeat(100));
    assert_eq!(cut_anyhow(&list, 50).1, Err(Error::EnvelopeTooLarge { limit: 50 }));
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let (pieces, end) = cut(&format!(r#"{{"items":[{{"a":{deep}}},{{"b":1}}]}}"#), 8192, 1 << 20);
    assert_eq!(end, Ok(()));
    assert_eq!(pieces.len(), 3);
}

#[test]
fn brackets_that_do_not_match_are_the_fault_of_one_item() {
    let (pieces, end) = cut_anyhow(r#"{"items":[{"a":[},{"b":]},{"c":\"x"},{"d":1}]}"#, 1 << 20);
    assert_eq!(end, Ok(()));
    let items = [r#"item {"a":[}"#, r#"item {"b":]}"#, r#"item {"c":\"x"}"#, r#"item {"d":1}"#];
    assert_eq!(pieces, [&items[..], &[r#"envelope {"items":[]}"#]].concat());
}

#[test]
fn long_lists_are_cut_alike_in_chunks_of_any_size() {
    let item = |n: usize| format!(r#"{{"n":{n},"t":"{}\"}}]{{","l":[[{{}},[]]]}}"#, "x\\\\".repeat(n));
    let items: Vec<String> = (0..40).map(item).collect();
    let (pieces, end) = cut_anyhow(&format!(r#"{{"items":[{}],"kind":"L"}}"#, items.join(", ")), 1 << 20);
    assert_eq!(end, Ok(()));
    let pieces: Vec<&str> = pieces.iter().filter_map(|piece| piece.strip_prefix("item ")).collect();
    assert_eq!(pieces, items);
}
