//! Istio's configuration.
//!
//! The control plane writes no status unless it is told to, so most meshes have none and nothing can be told. Where it
//! does, `status.observedGeneration` is a number, in some versions as text, and 0 where it was left out.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "istio",
    project: Some("istio"),
    about: "Istio's configuration (istio.io)",
    entries: &[Entry {
        fits: &[
            Fit::all("networking.istio.io"),
            Fit::all("security.istio.io"),
            Fit::all("telemetry.istio.io"),
            Fit::all("extensions.istio.io"),
        ],
        about: "status.observedGeneration, where the control plane is told to write a status.",
        pending: &[Owed::Change(When::All(&[BEHIND, When::Not(&When::Zero(OBSERVED))]))],
        processed: &[CURRENT],
        tokens: &[OBSERVED],
        examples: &[
            example(Unknown, r#"{"metadata":{"generation":2},"spec":{}}"#),
            example(Processed, r#"{"metadata":{"generation":2},"status":{"observedGeneration":"2"}}"#),
            example(Pending, r#"{"metadata":{"generation":2},"status":{"observedGeneration":1}}"#),
            example(Unknown, r#"{"metadata":{"generation":2},"status":{"observedGeneration":"0"}}"#),
        ],
        ..Entry::NEW
    }],
};
