//! Who may import whom, and that every file is compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

use crate::run::root;

/// Which modules of the crate a module may name. What is not listed here may name nothing but itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    ("cli", &["sidecar", "cluster", "endpoint", "config", "view", "judge", "sim", "log", "clock", "shutdown"]),
    ("sidecar", &["cluster", "endpoint", "sockets", "http", "metrics", "config", "view", "judge", "clock", "shutdown"]),
    ("http", &["metrics", "view", "clock"]),
    ("metrics", &["view"]),
    ("view", &["judge"]),
    ("cluster", &["judge", "clock"]),
    ("sockets", &["judge"]),
    // What the operator serves itself, asked by `probe` and by `run`.
    ("endpoint", &[]),
    ("config", &["judge"]),
    ("sim", &["clock"]),
    // Not in the layout's own list: every log line carries the time.
    ("log", &["clock"]),
    ("judge", &[]),
];

/// What the judge must not touch: time, randomness, I/O, other threads, logs.
const IMPURE: &[&[&str]] = &[
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "io"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "sync"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["jiff", "Timestamp", "now"],
    &["tokio"],
    &["futures_util"],
    &["kube"],
    &["http"],
    &["tracing"],
    &["tempfile"],
    &["clap"],
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn tokens(file: &Path) -> TokenStream {
    let text = std::fs::read_to_string(file).expect("readable");
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The module that a file is, from the crate's root: `src/cli/report/json.rs` is `[cli, report, json]`.
fn module(file: &Path) -> Vec<String> {
    let below = file.strip_prefix(root().join("src")).expect("below src").with_extension("");
    below.iter().map(|part| part.to_string_lossy().into_owned()).filter(|part| part != "lib").collect()
}

/// Every path that the code names, groups of `use` unfolded, `crate`, `self` and `super` resolved. Comments and strings
/// are no code.
fn paths(stream: TokenStream, module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(stream, &[], module, &mut found);
    found
}

fn collect(stream: TokenStream, prefix: &[String], module: &[String], found: &mut Vec<Vec<String>>) {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut at = 0;
    while at < trees.len() {
        match &trees[at] {
            TokenTree::Ident(first) => {
                let mut path = prefix.to_vec();
                path.push(first.to_string());
                at += 1;
                while is_separator(&trees, at) {
                    match trees.get(at + 2) {
                        Some(TokenTree::Ident(next)) => path.push(next.to_string()),
                        Some(TokenTree::Group(group)) => collect(group.stream(), &path, module, found),
                        _ => {}
                    }
                    at += 3;
                }
                found.push(resolve(&path, module));
            }
            TokenTree::Group(group) => {
                collect(group.stream(), &[], module, found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

fn is_separator(trees: &[TokenTree], at: usize) -> bool {
    let colon = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
    colon(trees.get(at)) && colon(trees.get(at + 1))
}

fn resolve(path: &[String], module: &[String]) -> Vec<String> {
    let (mut base, mut rest) = match path.first().map(String::as_str) {
        Some("crate" | "dogwatch") => return [vec!["crate".to_owned()], path[1..].to_vec()].concat(),
        Some("self") => (module.to_vec(), &path[1..]),
        Some("super") => (module.to_vec(), path),
        _ => return path.to_vec(),
    };
    while rest.first().is_some_and(|part| part == "super") {
        base.pop();
        rest = &rest[1..];
    }
    [vec!["crate".to_owned()], base, rest.to_vec()].concat()
}

fn imports(file: &Path) -> BTreeSet<String> {
    let module = module(file);
    let own = module.first().cloned().unwrap_or_default();
    paths(tokens(file), &module)
        .into_iter()
        .filter(|path| path.first().is_some_and(|first| first == "crate"))
        .filter_map(|path| path.get(1).cloned())
        .filter(|named| *named != own)
        .collect()
}

#[test]
fn modules_import_only_what_the_layout_allows() {
    let rules: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let modules: BTreeSet<String> =
        sources(&root().join("src")).iter().filter_map(|file| module(file).first().cloned()).collect();
    let mut broken = Vec::new();
    for file in sources(&root().join("src")) {
        let own = module(&file).first().cloned().unwrap_or_default();
        let allowed = rules.get(own.as_str()).copied().unwrap_or_default();
        // Tests may play against the simulated API server.
        let is_test = file.iter().any(|part| part == "tests" || part == "tests.rs");
        for named in imports(&file).into_iter().filter(|named| !(is_test && named == "sim")) {
            if modules.contains(&named) && !allowed.contains(&named.as_str()) {
                broken.push(format!("{} imports {named}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_judge_is_pure() {
    let mut broken = Vec::new();
    for file in sources(&root().join("src")).iter().filter(|file| module(file).first().is_some_and(|it| it == "judge"))
    {
        if file.ends_with("tests.rs") {
            continue;
        }
        for path in paths(tokens(file), &module(file)) {
            if IMPURE.iter().any(|impure| path.len() >= impure.len() && path.iter().zip(*impure).all(|(a, b)| a == b)) {
                broken.push(format!("{} names {}", file.display(), path.join("::")));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn paths_are_found_in_code_and_not_in_words() {
    let code = r#"
        // use crate::comment;
        use super::{super::view, json::{self, write}};
        fn f() { let text = "crate::text"; crate::clock::wall(); self::own::it(); std::fs::read(x) }
    "#;
    let module = ["cli".to_owned(), "report".to_owned()];
    let found: BTreeSet<String> =
        paths(code.parse().expect("code"), &module).into_iter().map(|path| path.join("::")).collect();
    for expected in
        ["crate::view", "crate::cli::json::write", "crate::clock::wall", "crate::cli::report::own::it", "std::fs::read"]
    {
        assert!(found.contains(expected), "{expected} in {found:?}");
    }
    assert!(!found.iter().any(|path| path.contains("comment") || path.contains("text::") || path.ends_with("::text")));
}

/// Follows `mod name;` from a root file. Files that a `#[path]` names are roots of their own.
fn reach(file: &Path, is_root: bool, reached: &mut BTreeSet<PathBuf>) {
    if !reached.insert(file.to_owned()) {
        return;
    }
    let folder = if is_root { file.parent().expect("a folder").to_owned() } else { file.with_extension("") };
    let trees: Vec<TokenTree> = tokens(file).into_iter().collect();
    for window in trees.windows(3) {
        if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)] = window
            && *word == "mod"
            && end.as_char() == ';'
        {
            for next in [folder.join(format!("{name}.rs")), file.with_extension("").join(format!("{name}.rs"))] {
                if next.exists() {
                    reach(&next, false, reached);
                }
            }
        }
    }
}

#[test]
fn every_file_is_compiled() {
    let root = root();
    let mut reached = BTreeSet::new();
    let operator = "tests/operators/kube-rs/src/main.rs";
    for file in ["src/main.rs", "src/lib.rs", "tests/suite.rs", "tests/real.rs", "tests/fuzz/src/main.rs", operator] {
        if root.join(file).exists() {
            reach(&root.join(file), true, &mut reached);
        }
    }
    let all = ["src", "tests"].iter().flat_map(|folder| sources(&root.join(folder)));
    let forgotten: Vec<_> = all.filter(|file| !reached.contains(file)).collect();
    assert!(forgotten.is_empty(), "no `mod` names {forgotten:?}");
    assert!(!sources(&root.join("src")).iter().any(|file| file.ends_with("mod.rs")), "name.rs and name/, no mod.rs");
}
