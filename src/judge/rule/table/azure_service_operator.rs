//! Azure Service Operator, version 2.
//!
//! `Ready` carries the generation, and while it is `False` a severity: `Error` will not be tried again soon, `Warning`
//! will, `Info` is work in progress. Versions of 2021 carried no generation. An annotation tells the operator to leave
//! an object alone, and then `Ready` is written all the same.

use super::engine::prelude::*;

/// The rule.
pub(super) static RULE: Ecosystem = Ecosystem {
    name: "azure-service-operator",
    project: Some("azure-service-operator"),
    about: "Azure Service Operator 2 (azure.com)",
    entries: &[Entry {
        fits: GROUPS,
        about: "Ready carries the generation and, while it is False, a severity.",
        paused: &[annotated("serviceoperator.azure.com/reconcile-policy", &["skip"])],
        pending: &[NEVER_A_CONDITION, Owed::Change(When::Behind(READY))],
        failing: &[standing(has(READY.no().severity(&["Error", "Warning"]).current()))],
        in_progress: &[standing(has(READY.is(&["False", "Unknown"]).current()))],
        processed: &[has(READY.current())],
        finalizers: Finalizers::named(&["serviceoperator.azure.com/finalizer"]),
        durations: minutes(10, 30, 30),
        examples: &[
            example(
                Processed,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}}"#,
            ),
            example(
                Pending,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}}"#,
            ),
            example(
                Failing,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Error","observedGeneration":2}]}}"#,
            ),
            example(
                InProgress,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"False","severity":"Info","observedGeneration":2}]}}"#,
            ),
            example(
                Unknown,
                r#"{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True"}]}}"#,
            ),
            example(
                Paused,
                r#"{"metadata":{"generation":2,"annotations":{"serviceoperator.azure.com/reconcile-policy":"skip"}}}"#,
            ),
        ],
        ..Entry::NEW
    }],
};

/// One for each service. Other operators live in groups of the same domain, such as that of Azure's container network.
const GROUPS: &[Fit] = &[
    Fit::all("alertsmanagement.azure.com"),
    Fit::all("apimanagement.azure.com"),
    Fit::all("app.azure.com"),
    Fit::all("appconfiguration.azure.com"),
    Fit::all("authorization.azure.com"),
    Fit::all("batch.azure.com"),
    Fit::all("cache.azure.com"),
    Fit::all("cdn.azure.com"),
    Fit::all("cognitiveservices.azure.com"),
    Fit::all("compute.azure.com"),
    Fit::all("containerinstance.azure.com"),
    Fit::all("containerregistry.azure.com"),
    Fit::all("containerservice.azure.com"),
    Fit::all("datafactory.azure.com"),
    Fit::all("dataprotection.azure.com"),
    Fit::all("dbformariadb.azure.com"),
    Fit::all("dbformysql.azure.com"),
    Fit::all("dbforpostgresql.azure.com"),
    Fit::all("devices.azure.com"),
    Fit::all("documentdb.azure.com"),
    Fit::all("entra.azure.com"),
    Fit::all("eventgrid.azure.com"),
    Fit::all("eventhub.azure.com"),
    Fit::all("insights.azure.com"),
    Fit::all("keyvault.azure.com"),
    Fit::all("kubernetesconfiguration.azure.com"),
    Fit::all("kusto.azure.com"),
    Fit::all("machinelearningservices.azure.com"),
    Fit::all("managedidentity.azure.com"),
    Fit::all("monitor.azure.com"),
    Fit::all("network.azure.com"),
    Fit::all("network.frontdoor.azure.com"),
    Fit::all("notificationhubs.azure.com"),
    Fit::all("operationalinsights.azure.com"),
    Fit::all("quota.azure.com"),
    Fit::all("redhatopenshift.azure.com"),
    Fit::all("resources.azure.com"),
    Fit::all("search.azure.com"),
    Fit::all("servicebus.azure.com"),
    Fit::all("signalrservice.azure.com"),
    Fit::all("sql.azure.com"),
    Fit::all("storage.azure.com"),
    Fit::all("subscription.azure.com"),
    Fit::all("synapse.azure.com"),
    Fit::all("web.azure.com"),
];
