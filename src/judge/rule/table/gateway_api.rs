//! Gateway API, and the policies of Envoy Gateway and Airlock that report like it.
//!
//! The CRDs give a new `GatewayClass` or `Gateway` the condition `Accepted=Unknown`, reason `Pending`: what still shows it,
//! no controller has touched. Afterwards conditions carry the generation. Routes have a list of answers, one for each
//! reference and controller, policies one for each ancestor; answers of controllers that are gone stay for ever, so old
//! ones mean nothing where a current one stands beside them.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "gateway-api",
    project: Some("gateway-api"),
    about: "Gateway API (gateway.networking.k8s.io)",
    entries: &[
        Entry {
            fits: &[
                Fit::of("gateway.networking.k8s.io", &["Gateway", "GatewayClass", "ListenerSet"]),
                Fit::of("gateway.networking.x-k8s.io", &["XListenerSet"]),
            ],
            about: "Accepted carries the generation; Unknown with reason Pending is what the CRD itself wrote.",
            pending: &[
                NEVER_A_CONDITION,
                Owed::Never(has(ACCEPTED.is(&["Unknown"]).because(&["Pending"]))),
                Owed::Change(When::Behind(ACCEPTED)),
            ],
            failing: &[
                standing(When::All(&[has(ACCEPTED.current()), has(ACCEPTED.no())])),
                standing(When::All(&[has(ACCEPTED.current()), has(PROGRAMMED.no().not_older())])),
            ],
            in_progress: &[standing(When::All(&[
                has(ACCEPTED.current()),
                has(PROGRAMMED.is(&["Unknown"]).not_older()),
            ]))],
            processed: &[has(ACCEPTED.current())],
            finalizers: Finalizers::Some(Names { names: &[], domains: &["gateway.networking.k8s.io"] }),
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Accepted","status":"True","observedGeneration":2}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Accepted","status":"Unknown","reason":"Pending"}]}}"#,
                ),
                example(
                    InProgress,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Accepted","status":"True","observedGeneration":1},{"type":"Programmed","status":"Unknown","observedGeneration":1}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":1},"status":{"conditions":[{"type":"Accepted","status":"True","observedGeneration":1},{"type":"Programmed","status":"False","observedGeneration":1}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[Fit { group: Group::Is("gateway.networking.k8s.io"), kinds: Kinds::Ending("Route") }],
            about: "Each of spec.parentRefs is answered in status.parents, by conditions that carry the generation.",
            pending: &[Owed::NeverIfOthers(When::Claims(Claim::None)), Owed::Change(When::Claims(Claim::SomeBehind))],
            failing: &[standing(has(condition(&["Accepted", "ResolvedRefs"])
                .at("status.parents.conditions")
                .no()
                .current()))],
            processed: &[When::Claims(Claim::AllCurrent)],
            conditions: "status.parents.conditions",
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"spec":{"parentRefs":[{"name":"a"}]},"status":{"parents":[{"parentRef":{"name":"a"},"conditions":[{"type":"Accepted","status":"True","observedGeneration":2}]},{"parentRef":{"name":"gone"},"conditions":[{"type":"Accepted","status":"True","observedGeneration":1}]}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2},"spec":{"parentRefs":[{"name":"a"}]},"status":{"parents":[{"parentRef":{"name":"a"},"conditions":[{"type":"Accepted","status":"True","observedGeneration":1}]}]}}"#,
                ),
                example(
                    Failing,
                    r#"{"metadata":{"generation":2},"spec":{"parentRefs":[{"name":"a"}]},"status":{"parents":[{"parentRef":{"name":"a"},"conditions":[{"type":"Accepted","status":"False","observedGeneration":2}]}]}}"#,
                ),
            ],
            ..Entry::NEW
        },
        Entry {
            fits: &[
                Fit { group: Group::Is("gateway.networking.k8s.io"), kinds: Kinds::Ending("Policy") },
                Fit { group: Group::Is("gateway.networking.x-k8s.io"), kinds: Kinds::Ending("Policy") },
                Fit { group: Group::Is("gateway.envoyproxy.io"), kinds: Kinds::Ending("Policy") },
                Fit::all("microgateway.airlock.com"),
            ],
            about: "Each ancestor that a policy reaches has conditions that carry the generation.",
            pending: &[Owed::Change(When::Behind(AT_ANCESTORS))],
            failing: &[standing(has(condition(&["Accepted", "ResolvedRefs"])
                .at("status.ancestors.conditions")
                .no()
                .current()))],
            processed: &[has(AT_ANCESTORS.current())],
            conditions: "status.ancestors.conditions",
            examples: &[
                example(
                    Processed,
                    r#"{"metadata":{"generation":2},"status":{"ancestors":[{"conditions":[{"type":"Accepted","status":"True","observedGeneration":2}]}]}}"#,
                ),
                example(
                    Pending,
                    r#"{"metadata":{"generation":2},"status":{"ancestors":[{"conditions":[{"type":"Accepted","status":"True","observedGeneration":1}]}]}}"#,
                ),
                example(Unknown, r#"{"metadata":{"generation":2},"status":{}}"#),
            ],
            ..Entry::NEW
        },
        Entry { fits: &[Fit::of("gateway.networking.k8s.io", &["ReferenceGrant"])], ..Entry::STATIC },
    ],
};

const ACCEPTED: Condition = condition(&["Accepted"]);
const PROGRAMMED: Condition = condition(&["Programmed"]);
const AT_ANCESTORS: Condition = ANY.at("status.ancestors.conditions");
