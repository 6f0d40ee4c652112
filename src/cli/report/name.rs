//! The report as names for other commands: `plural.group/name`, one a line, as kubectl prints them.

use std::io;

use super::super::columns::visible;
use super::Report;

/// Writes the names of the objects that the report lists: the overdue ones, or all that `is_every` lets through.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(report: &Report, limit: Option<usize>, is_every: bool, out: &mut dyn io::Write) -> io::Result<()> {
    for (resource, finding) in report.findings(limit).0 {
        if is_every || finding.overdue {
            writeln!(out, "{}/{}", resource.resource, visible(&finding.name))?;
        }
    }
    Ok(())
}
