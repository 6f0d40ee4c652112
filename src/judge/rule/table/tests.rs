use super::ALL;

#[test]
fn placeholder() {
    assert!(!ALL.is_empty());
}
