//! What one condition says, by the words that most operators use.

use super::number;
use crate::judge::object::tree::Tree;

/// Conditions that are `True` when something is wrong.
const FAILURES: [&str; 4] = ["Stalled", "Failed", "ReconcileError", "Degraded"];
/// Conditions that are `False` when something is wrong or unfinished; their reason tells which.
const SUCCESSES: [&str; 4] = ["Ready", "Synced", "Reconciled", "Available"];
/// Parts of the reasons by which such a condition reports a failure.
const FAILURE_REASONS: [&str; 6] = ["err", "fail", "invalid", "denied", "conflict", "exceeded"];

/// Its type.
pub(super) fn kind<'t>(condition: &'t Tree<'_>) -> &'t str {
    condition.get("type").and_then(Tree::as_str).unwrap_or_default()
}

fn is_status(condition: &Tree<'_>, status: &str) -> bool {
    condition.get("status").and_then(Tree::as_str) == Some(status)
}

/// A condition that carries an older generation speaks of an older desired state.
pub(super) fn is_current(condition: &Tree<'_>, generation: i64) -> bool {
    number(condition.get("observedGeneration")).is_none_or(|observed| observed == generation)
}

/// Whether it says that the operator failed.
pub(super) fn reports_failure(condition: &Tree<'_>) -> bool {
    if FAILURES.contains(&kind(condition)) {
        return is_status(condition, "True");
    }
    if !SUCCESSES.contains(&kind(condition)) || !is_status(condition, "False") {
        return false;
    }
    let reason = condition.get("reason").and_then(Tree::as_str).unwrap_or_default().to_ascii_lowercase();
    FAILURE_REASONS.iter().any(|part| reason.contains(part))
}

/// Whether it says that the operator is at work.
pub(super) fn reports_work(condition: &Tree<'_>) -> bool {
    match kind(condition) {
        "Reconciling" => is_status(condition, "True"),
        "Ready" => is_status(condition, "False") || is_status(condition, "Unknown"),
        _ => false,
    }
}
