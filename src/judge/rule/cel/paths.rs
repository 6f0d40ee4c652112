//! Which paths of the object an expression reads.
//!
//! A value is followed from where it stands in the object to where it is used: looking into it goes on along the path,
//! walking a list goes through it (as paths of a mask do), and any other use reads the whole of it.

use super::function::{Function, OBSERVED};
use super::node::{Fold, Form, Gather, Node};
use crate::judge::object::mask::{Mask, OTHERS};

/// Where a value comes from.
#[derive(Debug, Clone, Default)]
struct Path {
    keys: Vec<String>,
    /// The value is an item of the list at this path. A mask goes through a list, but not through a list in a list.
    is_item: bool,
    /// The value is a list that the expression has made of such values, of such lists, and so on.
    made: usize,
}

impl Path {
    fn below(&self, key: &str) -> Self {
        let mut keys = self.keys.clone();
        keys.push(key.to_owned());
        Self { keys, ..Self::default() }
    }
}

/// The mask of what `node` reads.
pub(super) fn mask(node: &Node) -> Mask {
    let mut reading = Reading { mask: Mask::new(), variables: Vec::new() };
    reading.whole(node);
    reading.mask
}

struct Reading {
    mask: Mask,
    /// Where the items come from that the variables of the loops stand for.
    variables: Vec<Vec<Path>>,
}

impl Reading {
    /// Reads the whole value of a step.
    fn whole(&mut self, node: &Node) {
        for path in self.origins(node) {
            self.add_whole(&path);
        }
    }

    fn each<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        for node in nodes {
            self.whole(node);
        }
    }

    fn add_whole(&mut self, path: &Path) {
        let keys: Vec<&str> = path.keys.iter().map(String::as_str).collect();
        // A key that a mask takes for all others.
        let end = keys.iter().position(|key| *key == OTHERS).unwrap_or(keys.len());
        self.mask = std::mem::take(&mut self.mask).whole(&keys[..end]);
    }

    /// Reads whether there is a value under `key`, or, for [`OTHERS`], which keys there are.
    fn add_presence(&mut self, path: &Path, key: &str, is_any: bool) {
        if path.made > 0 && is_any {
            return;
        }
        let below = path.below(key);
        if path.keys.iter().any(|key| key == OTHERS) || key == OTHERS && !is_any || path.is_item && is_any {
            return self.add_whole(path);
        }
        let keys: Vec<&str> = below.keys.iter().map(String::as_str).collect();
        self.mask = std::mem::take(&mut self.mask).presence(&keys);
    }

    /// Where the value of a step stands in the object, if it does; everything that is read on the way is added.
    fn origins(&mut self, node: &Node) -> Vec<Path> {
        match &node.form {
            Form::Literal(_) => Vec::new(),
            Form::Own => vec![Path::default()],
            Form::Local(depth) => self.variables.get(*depth).cloned().unwrap_or_default(),
            Form::Select(of, key) => self.fields(of, key),
            Form::Has(of, key) => {
                for path in self.origins(of).iter().filter(|path| path.made == 0) {
                    self.add_presence(path, key, false);
                }
                Vec::new()
            }
            Form::Index(two) => self.index(two),
            Form::If(three) => {
                let [condition, then, otherwise] = &**three;
                self.whole(condition);
                let mut origins = self.origins(then);
                origins.extend(self.origins(otherwise));
                origins
            }
            Form::Equal(_, two) => {
                match &**two {
                    [null, of] | [of, null] if null.is_null() => self.is_there(of),
                    two => self.each(two),
                }
                Vec::new()
            }
            Form::In(two) => {
                self.is_in(two);
                Vec::new()
            }
            Form::Call(function, arguments) => self.call(*function, arguments),
            Form::Fold(fold) => self.fold(fold),
            Form::Not(of) | Form::Negate(of) | Form::Matches(of, _) => {
                self.whole(of);
                Vec::new()
            }
            Form::And(two) | Form::Or(two) | Form::Compare(_, two) | Form::Arithmetic(_, two) => {
                self.each(&**two);
                Vec::new()
            }
            Form::List(items) => {
                self.each(items);
                Vec::new()
            }
            Form::Map(entries) => {
                self.each(entries.iter().flatten());
                Vec::new()
            }
        }
    }

    fn fields(&mut self, of: &Node, key: &str) -> Vec<Path> {
        self.origins(of).iter().filter(|path| path.made == 0).map(|path| path.below(key)).collect()
    }

    fn index(&mut self, two: &[Node; 2]) -> Vec<Path> {
        let [of, index] = two;
        if let Some(key) = index.text() {
            return self.fields(of, key);
        }
        self.whole(index);
        let origins = self.origins(of);
        // Which key of a map it is, nobody knows beforehand; in a list it does not matter.
        if !matches!(index.form, Form::Literal(_)) {
            for path in &origins {
                self.add_whole(path);
            }
        }
        self.items(origins)
    }

    /// The items of the lists at `origins`.
    fn items(&mut self, origins: Vec<Path>) -> Vec<Path> {
        let mut items = Vec::new();
        for path in origins {
            if path.made > 0 {
                items.push(Path { made: path.made - 1, ..path });
            } else if path.is_item {
                self.add_whole(&path);
            } else {
                items.push(Path { is_item: true, ..path });
            }
        }
        items
    }

    fn is_there(&mut self, of: &Node) {
        match &of.form {
            Form::Select(parent, key) => {
                for path in self.origins(parent) {
                    self.add_presence(&path, key, false);
                }
            }
            _ => self.whole(of),
        }
    }

    fn is_in(&mut self, two: &[Node; 2]) {
        let [value, of] = two;
        let Some(key) = value.text() else { return self.each(two) };
        // A list that is read for a key is read with its texts.
        for path in self.origins(of) {
            if path.is_item || path.made > 0 {
                self.add_whole(&path);
            } else {
                self.add_presence(&path, key, false);
            }
        }
    }

    fn call(&mut self, function: Function, arguments: &[Node]) -> Vec<Path> {
        match (function, arguments) {
            (Function::Dyn, [of]) => return self.origins(of),
            (Function::Conditions, [of]) => {
                let below = |path: &Path| [path.below("conditions"), path.below("status").below("conditions")];
                let origins = self.origins(of);
                let own = origins.iter().filter(|path| !path.keys.is_empty()).cloned();
                return origins.iter().flat_map(below).chain(own).collect();
            }
            (Function::Generation, [of]) => {
                for path in self.origins(of) {
                    self.add_whole(&path.below("metadata").below("generation"));
                }
            }
            (Function::ObservedGeneration, [of]) => {
                for path in self.origins(of) {
                    for key in OBSERVED {
                        self.add_whole(&path.below(key));
                        self.add_whole(&path.below("status").below(key));
                    }
                }
            }
            (Function::Size, [of]) => {
                for path in self.origins(of) {
                    self.add_presence(&path, OTHERS, true);
                }
            }
            (_, arguments) => self.each(arguments),
        }
        Vec::new()
    }

    fn fold(&mut self, fold: &Fold) -> Vec<Path> {
        let origins = self.origins(&fold.range);
        if !fold.is_used {
            for path in &origins {
                self.add_presence(path, OTHERS, true);
            }
        }
        let items = self.items(origins);
        self.variables.push(items);
        let mut made = Vec::new();
        match &fold.gather {
            Gather::Exists(condition) | Gather::All(condition) | Gather::ExistsOne(condition) => self.whole(condition),
            Gather::Collect { when, item } => {
                self.each(when);
                made = self.origins(item);
            }
        }
        self.variables.pop();
        made.into_iter().map(|path| Path { made: path.made + 1, ..path }).collect()
    }
}
