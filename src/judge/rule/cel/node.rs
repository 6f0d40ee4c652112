//! An expression as it is evaluated: names are resolved, macros are loops, patterns are compiled.

use regex_lite::Regex;

use super::function::Function;
use super::value::Kind;

/// One step of an expression.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where it stands in the source, in characters from 0.
    pub(super) at: usize,
    pub(super) form: Form,
}

type Two = Box<[Node; 2]>;

/// What a step does.
#[derive(Debug, Clone)]
pub(super) enum Form {
    Literal(Literal),
    /// The object.
    Own,
    /// The variable of the loop at this depth.
    Local(usize),
    Select(Box<Node>, Box<str>),
    Has(Box<Node>, Box<str>),
    Index(Two),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Two),
    Or(Two),
    If(Box<[Node; 3]>),
    /// `==`, or `!=` where the flag is set.
    Equal(bool, Two),
    Compare(Comparison, Two),
    In(Two),
    Arithmetic(Operator, Two),
    Call(Function, Vec<Node>),
    Matches(Box<Node>, Pattern),
    List(Vec<Node>),
    Map(Vec<[Node; 2]>),
    Fold(Box<Fold>),
}

/// A value that is written in the expression.
#[derive(Debug, Clone)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Box<str>),
    /// The name of a type, as in `type(x) == string`.
    Kind(Kind),
}

/// Which order is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// What is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A regular expression and what a byte of text costs to search with it at worst.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) regex: Regex,
    pub(super) steps_per_byte: usize,
}

/// A macro over the items of a list or the keys of a map.
#[derive(Debug, Clone)]
pub(super) struct Fold {
    pub(super) range: Node,
    pub(super) gather: Gather,
    /// Whether the keys of a map may be walked: not where the variable is only looked into, as keys have no fields and
    /// the mask does not read them all.
    pub(super) takes_keys: bool,
    /// Whether the variable is used at all.
    pub(super) is_used: bool,
}

/// What a macro makes of the items.
#[derive(Debug, Clone)]
pub(super) enum Gather {
    Exists(Node),
    All(Node),
    ExistsOne(Node),
    /// `map` and `filter`.
    Collect {
        when: Option<Node>,
        item: Node,
    },
}

impl Node {
    /// The text that is written here.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.form {
            Form::Literal(Literal::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The steps right below this one.
    pub(super) fn children(&self) -> Vec<&Self> {
        match &self.form {
            Form::Literal(_) | Form::Own | Form::Local(_) => Vec::new(),
            Form::Select(of, _) | Form::Has(of, _) | Form::Not(of) | Form::Negate(of) | Form::Matches(of, _) => {
                vec![of]
            }
            Form::Index(two)
            | Form::And(two)
            | Form::Or(two)
            | Form::In(two)
            | Form::Equal(_, two)
            | Form::Compare(_, two)
            | Form::Arithmetic(_, two) => two.iter().collect(),
            Form::If(three) => three.iter().collect(),
            Form::Call(_, items) | Form::List(items) => items.iter().collect(),
            Form::Map(entries) => entries.iter().flatten().collect(),
            Form::Fold(fold) => match &fold.gather {
                Gather::Exists(condition) | Gather::All(condition) | Gather::ExistsOne(condition) => {
                    vec![&fold.range, condition]
                }
                Gather::Collect { when, item } => when.iter().chain([&fold.range, item]).collect(),
            },
        }
    }

    pub(super) const fn is_null(&self) -> bool {
        matches!(self.form, Form::Literal(Literal::Null))
    }
}
