//! From what the library has parsed to what is evaluated: names are resolved, macros become loops, limits are checked.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, SourceInfo, operators,
};
use regex_lite::RegexBuilder;

use super::fault::{Fault, Problem};
use super::function::{self, FUNCTIONS, Style};
use super::node::{Comparison, Fold, Form, Gather, Literal, Node, Operator, Pattern};
use super::value::Kind;

/// How deep steps may stand in each other.
const DEEPEST: usize = 64;
/// How many loops may stand in each other.
const MOST_LOOPS: usize = 2;

/// Turns what was parsed into steps. The faults are all that were found; with any there are no steps to use.
pub(super) fn lower(parsed: &IdedExpr, places: &SourceInfo) -> (Option<Node>, Vec<Fault>) {
    let mut lowering = Lowering { places, variables: Vec::new(), depth: 0, faults: Vec::new() };
    let node = lowering.node(parsed);
    (node, lowering.faults)
}

/// The variable of a loop.
struct Variable {
    name: String,
    is_used: bool,
    /// Whether it is used otherwise than to look into it.
    is_used_whole: bool,
}

struct Lowering<'p> {
    places: &'p SourceInfo,
    variables: Vec<Variable>,
    depth: usize,
    faults: Vec<Fault>,
}

impl Lowering<'_> {
    fn at(&self, parsed: &IdedExpr) -> usize {
        let start = self.places.offset_for(parsed.id).map_or(0, |(start, _)| start as usize);
        // The library counts bytes.
        self.places.source.get(..start).map_or(start, |before| before.chars().count())
    }

    fn refuse<T>(&mut self, at: usize, problem: impl Into<String>) -> Option<T> {
        self.faults.push(Fault::new(at, problem));
        None
    }

    fn unknown<T>(&mut self, at: usize, noun: &'static str, name: &str, known: Vec<&'static str>) -> Option<T> {
        self.faults.push(Fault { at, problem: Problem::Unknown { noun, name: name.to_owned(), known } });
        None
    }

    fn node(&mut self, parsed: &IdedExpr) -> Option<Node> {
        let at = self.at(parsed);
        if self.depth == DEEPEST {
            return self
                .refuse(at, format!("is nested deeper than {DEEPEST} steps; write it flatter, or as several rules"));
        }
        self.depth += 1;
        let form = self.form(parsed, at);
        self.depth -= 1;
        form.map(|form| Node { at, form })
    }

    fn form(&mut self, parsed: &IdedExpr, at: usize) -> Option<Form> {
        match &parsed.expr {
            Expr::Call(call) => self.call(call, at),
            Expr::Comprehension(comprehension) => self.fold(comprehension, at),
            Expr::Ident(name) => self.name(name, at, true),
            Expr::List(list) => Some(Form::List(self.nodes(&list.elements)?)),
            Expr::Literal(literal) => self.literal(literal, at),
            Expr::Map(map) => self.map(map),
            Expr::Select(select) => {
                let of = Box::new(self.looked_into(&select.operand)?);
                let key = select.field.as_str().into();
                Some(if select.test { Form::Has(of, key) } else { Form::Select(of, key) })
            }
            Expr::Struct(_) => self.refuse(at, "messages cannot be made here; write a map, as in {'key': value}"),
            Expr::Unspecified => self.refuse(at, "is empty"),
        }
    }

    /// All of them are read, so that each shows its own faults.
    fn nodes(&mut self, parsed: &[IdedExpr]) -> Option<Vec<Node>> {
        let nodes: Vec<_> = parsed.iter().map(|parsed| self.node(parsed)).collect();
        nodes.into_iter().collect()
    }

    fn two(&mut self, parsed: &[IdedExpr]) -> Option<Box<[Node; 2]>> {
        Some(Box::new(<[Node; 2]>::try_from(self.nodes(parsed)?).ok()?))
    }

    fn one(&mut self, parsed: &[IdedExpr]) -> Option<Box<Node>> {
        self.nodes(parsed)?.into_iter().next().map(Box::new)
    }

    /// A value of which only a part is used.
    fn looked_into(&mut self, parsed: &IdedExpr) -> Option<Node> {
        match &parsed.expr {
            Expr::Ident(name) => {
                let at = self.at(parsed);
                self.name(name, at, false).map(|form| Node { at, form })
            }
            _ => self.node(parsed),
        }
    }

    fn name(&mut self, name: &str, at: usize, is_whole: bool) -> Option<Form> {
        if let Some(depth) = self.variables.iter().rposition(|variable| variable.name == name) {
            let variable = &mut self.variables[depth];
            variable.is_used = true;
            variable.is_used_whole |= is_whole;
            return Some(Form::Local(depth));
        }
        if name == "self" {
            return Some(Form::Own);
        }
        if let Some((_, kind)) = Kind::NAMES.iter().find(|(known, _)| *known == name) {
            return Some(Form::Literal(Literal::Kind(*kind)));
        }
        match name {
            "now" => self.refuse(at, "`now` does not exist: a rule sees the object alone and has no clock"),
            "oldSelf" => self.refuse(at, "`oldSelf` does not exist: a rule sees the object alone, not what it was"),
            _ => {
                // The variables of loops are the expression's own words and cannot be suggested as ours.
                self.unknown(at, "variable", name, vec!["self"])
            }
        }
    }

    fn literal(&mut self, literal: &LiteralValue, at: usize) -> Option<Form> {
        Some(Form::Literal(match literal {
            LiteralValue::Boolean(value) => Literal::Bool(*value.inner()),
            LiteralValue::Double(number) => Literal::Double(*number.inner()),
            LiteralValue::Int(number) => Literal::Int(*number.inner()),
            LiteralValue::UInt(number) => Literal::Uint(*number.inner()),
            LiteralValue::Null => Literal::Null,
            LiteralValue::String(text) => Literal::Text(text.inner().into()),
            LiteralValue::Bytes(_) => return self.refuse(at, "bytes do not occur in objects; write text"),
        }))
    }

    fn map(&mut self, map: &MapExpr) -> Option<Form> {
        let mut entries = Vec::new();
        for entry in &map.entries {
            let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
            let (key, value) = (self.node(&entry.key), self.node(&entry.value));
            entries.push(key.zip(value).map(|(key, value)| [key, value]));
        }
        entries.into_iter().collect::<Option<_>>().map(Form::Map)
    }

    fn call(&mut self, call: &CallExpr, at: usize) -> Option<Form> {
        let parts = call.args.as_slice();
        let compare = |comparison| move |two| Form::Compare(comparison, two);
        let compute = |operator| move |two| Form::Arithmetic(operator, two);
        match call.func_name.as_str() {
            operators::LOGICAL_AND => self.two(parts).map(Form::And),
            operators::LOGICAL_OR => self.two(parts).map(Form::Or),
            operators::LOGICAL_NOT => self.one(parts).map(Form::Not),
            operators::NEGATE => self.one(parts).map(Form::Negate),
            operators::CONDITIONAL => Some(Form::If(Box::new(<[Node; 3]>::try_from(self.nodes(parts)?).ok()?))),
            operators::EQUALS => self.two(parts).map(|two| Form::Equal(false, two)),
            operators::NOT_EQUALS => self.two(parts).map(|two| Form::Equal(true, two)),
            operators::LESS => self.two(parts).map(compare(Comparison::Less)),
            operators::LESS_EQUALS => self.two(parts).map(compare(Comparison::LessOrEqual)),
            operators::GREATER => self.two(parts).map(compare(Comparison::Greater)),
            operators::GREATER_EQUALS => self.two(parts).map(compare(Comparison::GreaterOrEqual)),
            operators::IN => self.two(parts).map(Form::In),
            operators::ADD => self.two(parts).map(compute(Operator::Add)),
            operators::SUBSTRACT => self.two(parts).map(compute(Operator::Subtract)),
            operators::MULTIPLY => self.two(parts).map(compute(Operator::Multiply)),
            operators::DIVIDE => self.two(parts).map(compute(Operator::Divide)),
            operators::MODULO => self.two(parts).map(compute(Operator::Remainder)),
            operators::INDEX => match parts {
                [of, index] => {
                    let (of, index) = (self.looked_into(of), self.node(index));
                    let (of, index) = of.zip(index)?;
                    if index.text().is_none() && !matches!(index.form, Form::Literal(Literal::Int(_))) {
                        self.mark_whole(&of);
                    }
                    Some(Form::Index(Box::new([of, index])))
                }
                _ => None,
            },
            name => self.function(name, call, at),
        }
    }

    /// What is indexed by something that is not written out is read whole.
    fn mark_whole(&mut self, node: &Node) {
        if let Form::Local(depth) = node.form {
            self.variables[depth].is_used_whole = true;
        }
    }

    fn function(&mut self, name: &str, call: &CallExpr, at: usize) -> Option<Form> {
        let target = call.target.as_deref();
        let arguments: Vec<_> = target.into_iter().chain(&call.args).map(|it| self.node(it)).collect();
        if name == "matches" {
            return self.matches(arguments, at);
        }
        let style = if target.is_some() { Style::Member } else { Style::Global };
        let Some(found) = FUNCTIONS.iter().find(|it| it.name == name) else {
            return self.unknown_function(name, at);
        };
        if found.style != Style::Either && found.style != style {
            let right = if style == Style::Member { format!("{name}(x)") } else { format!("x.{name}()") };
            return self.refuse(at, format!("`{name}` is written as `{right}`"));
        }
        if found.takes.len() != arguments.len() {
            let wanted = found.takes.len() - usize::from(style == Style::Member);
            let given = call.args.len();
            return self.refuse(at, format!("`{name}` takes {wanted} in its brackets, found {given}"));
        }
        Some(Form::Call(found.function, arguments.into_iter().collect::<Option<_>>()?))
    }

    fn unknown_function(&mut self, name: &str, at: usize) -> Option<Form> {
        let problem = match name {
            "has" => "`has` takes one field, as in has(self.status)",
            "all" | "exists" | "exists_one" | "existsOne" | "filter" => {
                "takes one variable and one condition, as in self.status.conditions.exists(c, c.type == 'Ready')"
            }
            "map" => "`map` takes one variable and one value, and a condition between them if need be",
            "quantity" | "isQuantity" | "url" | "isURL" | "ip" | "isIP" | "cidr" | "isCIDR" | "semver" => {
                "functions of Kubernetes' own libraries are not supported; compare the text"
            }
            "optional.of" | "optional.none" | "orValue" | "hasValue" | "optMap" => {
                "optional values are not supported; test with has(...)"
            }
            _ => return self.unknown(at, "function", name, function::names()),
        };
        self.refuse(at, problem)
    }

    fn matches(&mut self, arguments: Vec<Option<Node>>, at: usize) -> Option<Form> {
        let Ok([text, pattern]) = <[Option<Node>; 2]>::try_from(arguments) else {
            return self.refuse(at, "`matches` takes one pattern, as in self.status.phase.matches('^(Ready|Done)$')");
        };
        let (text, pattern) = text.zip(pattern)?;
        let Some(written) = pattern.text() else {
            return self
                .refuse(at, "the pattern of `matches` must be written in the expression, so that its cost is known");
        };
        match compile(written) {
            Ok(pattern) => Some(Form::Matches(Box::new(text), pattern)),
            Err(problem) => self.refuse(pattern.at, format!("the pattern of `matches` {problem}")),
        }
    }

    fn fold(&mut self, parsed: &ComprehensionExpr, at: usize) -> Option<Form> {
        let range = self.looked_into(&parsed.iter_range);
        if self.variables.len() == MOST_LOOPS {
            return self
                .refuse(at, format!("more than {MOST_LOOPS} of exists, all, filter and map stand in each other"));
        }
        let name = parsed.iter_var.clone();
        self.variables.push(Variable { name, is_used: false, is_used_whole: false });
        let gather = self.gather(parsed, at);
        let variable = self.variables.pop()?;
        Some(Form::Fold(Box::new(Fold {
            range: range?,
            gather: gather?,
            takes_keys: variable.is_used_whole || !variable.is_used,
            is_used: variable.is_used,
        })))
    }

    /// Which macro it was, read off what the library made of it.
    fn gather(&mut self, parsed: &ComprehensionExpr, at: usize) -> Option<Gather> {
        let Expr::Call(step) = &parsed.loop_step.expr else { return self.refuse(at, "is no macro that is known") };
        let (when, step) = match (step.func_name.as_str(), step.args.as_slice()) {
            (operators::LOGICAL_OR, [_, condition]) => return self.node(condition).map(Gather::Exists),
            (operators::LOGICAL_AND, [_, condition]) => return self.node(condition).map(Gather::All),
            (operators::CONDITIONAL, [condition, step, _]) => (Some(condition), step),
            _ => (None, &parsed.loop_step),
        };
        match (&step.expr, when) {
            (Expr::Call(add), Some(condition)) if !matches!(added(add), Some(Expr::List(_))) => {
                self.node(condition).map(Gather::ExistsOne)
            }
            (Expr::Call(add), when) => {
                let Some(Expr::List(list)) = added(add) else { return self.refuse(at, "is no macro that is known") };
                let when = when.map(|condition| self.node(condition));
                let item = list.elements.first().and_then(|item| self.node(item));
                Some(Gather::Collect { when: when.map_or(Some(None), |when| when.map(Some))?, item: item? })
            }
            _ => self.refuse(at, "is no macro that is known"),
        }
    }
}

fn added(add: &CallExpr) -> Option<&Expr> {
    add.args.get(1).map(|added| &added.expr)
}

/// Compiles a pattern and measures it by the least memory that takes it, to which the work of a search is proportional.
fn compile(pattern: &str) -> Result<Pattern, &'static str> {
    const SIZES: [usize; 4] = [1 << 10, 1 << 12, 1 << 14, 1 << 16];
    let build = |size: usize| RegexBuilder::new(pattern).size_limit(size).nest_limit(32).build();
    let fits = SIZES.into_iter().find_map(|size| Some(Pattern { regex: build(size).ok()?, steps_per_byte: size >> 7 }));
    let is_large = || RegexBuilder::new(pattern).size_limit(1 << 20).nest_limit(32).build().is_ok();
    fits.ok_or_else(|| if is_large() { "is too large" } else { "is no regular expression" })
}
