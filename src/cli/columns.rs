//! Tables as kubectl prints them: columns two spaces apart, no lines, cut to fit a terminal.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

/// One cell.
#[derive(Debug, Clone)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text without colour. Whatever could steer a terminal is written visibly instead.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self { text: visible(text.as_ref()), style: Style::new() }
    }

    /// The same text in colour.
    #[must_use]
    pub fn coloured(self, colour: AnsiColor) -> Self {
        Self { style: Style::new().fg_color(Some(colour.into())), ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }
}

/// Rows below a header.
#[derive(Debug, Default)]
pub struct Columns {
    header: Vec<&'static str>,
    right: Vec<bool>,
    rows: Vec<Vec<Cell>>,
}

impl Columns {
    /// A table with these headings; a heading that begins with `>` belongs to a column of numbers.
    pub fn new(header: &[&'static str]) -> Self {
        Self {
            header: header.iter().map(|heading| heading.trim_start_matches('>')).collect(),
            right: header.iter().map(|heading| heading.starts_with('>')).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, one cell a column.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// True while no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines of the table. Where they are wider than `width`, the widest columns are cut until they fit.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let mut widths: Vec<usize> = self.header.iter().map(|heading| heading.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        if let Some(width) = width {
            narrow(&mut widths, width);
        }
        let header: Vec<Cell> = self.header.iter().map(Cell::new).collect();
        std::iter::once(&header).chain(&self.rows).map(|row| self.line(row, &widths)).collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(widths).zip(&self.right) {
            if !line.is_empty() {
                line.push_str("  ");
            }
            let text = cut(&cell.text, *width);
            let space = " ".repeat(width.saturating_sub(text.width()));
            let style = cell.style;
            if *right {
                line.push_str(&space);
            }
            line.extend([style.render().to_string(), text, style.render_reset().to_string()]);
            if !*right {
                line.push_str(&space);
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// No column is made narrower than this.
const NARROWEST: usize = 8;

fn narrow(widths: &mut [usize], width: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    let mut surplus = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while surplus > 0 {
        let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > NARROWEST) else { return };
        *widest -= 1;
        surplus -= 1;
    }
}

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        let mut longer = kept.clone();
        longer.push(character);
        if longer.width() >= width {
            break;
        }
        kept = longer;
    }
    kept.push('…');
    kept
}

/// Control characters, and those that change the direction of text, in the form `\u{1b}`.
pub fn visible(text: &str) -> String {
    let is_hostile = |character: char| {
        character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_hostile) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|character| {
            let shown: Box<dyn Iterator<Item = char>> = if is_hostile(character) {
                Box::new(character.escape_unicode())
            } else {
                Box::new(std::iter::once(character))
            };
            shown
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Cell, Columns, visible};

    fn table(width: Option<usize>) -> Vec<String> {
        let mut columns = Columns::new(&["NAME", ">COUNT", "WHY"]);
        columns.row(vec![Cell::new("prod/orders"), Cell::new("3"), Cell::new("never-processed since long ago")]);
        columns.row(vec![Cell::new("数据库"), Cell::new("12"), Cell::new("")]);
        columns.lines(width)
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table(None),
            ["NAME         COUNT  WHY", "prod/orders      3  never-processed since long ago", "数据库          12",]
        );
    }

    #[test]
    fn the_widest_columns_are_cut_to_fit() {
        let lines = table(Some(36));
        assert_eq!(lines[1], "prod/orders      3  never-processed…");
        assert!(table(Some(1)).iter().all(|line| line.chars().count() <= 28), "narrow, and not endless");
    }

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c\u{9b}"), "a\\u{1b}[2Jb\\u{202e}c\\u{9b}");
        assert_eq!(visible("größe 数"), "größe 数");
    }
}
