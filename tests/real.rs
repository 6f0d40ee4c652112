//! Tests against a real `kube-apiserver` with a real `etcd`. `tests/cluster/test` runs them.
#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on says why and ends")]
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the bans are for dogwatch, not for its tests")]
#![allow(clippy::disallowed_macros, reason = "the table of the proof is printed")]

#[path = "real/admin.rs"]
mod admin;
#[path = "real/api_server.rs"]
mod api_server;
#[path = "real/audit.rs"]
mod audit;
#[path = "real/certificate.rs"]
mod certificate;
#[path = "real/connect.rs"]
mod connect;
#[path = "real/connection.rs"]
mod connection;
#[path = "real/crd.rs"]
mod crd;
#[path = "real/detection.rs"]
mod detection;
#[path = "real/discover.rs"]
mod discover;
#[path = "real/list.rs"]
mod list;
#[path = "real/object.rs"]
mod object;
#[path = "real/process.rs"]
mod process;
#[path = "real/proof.rs"]
mod proof;
#[path = "real/storage.rs"]
mod storage;
#[path = "real/task.rs"]
mod task;
#[path = "real/watch.rs"]
mod watch;
