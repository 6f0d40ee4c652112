//! Which path is answered by what.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::USER_AGENT;
use axum::http::{Response, StatusCode};
use axum::routing::get;

use super::answer::{Answer, JSON};
use super::check::{self, Checked};
use super::query::Query;
use super::status;
use crate::metrics;
use crate::view::board::{Agent, Asked, Board, Path};
use crate::view::{Decision, Tick, View};

/// What is answered, for whoever asks for something else.
const PATHS: &str = "/healthz, /livez, /readyz: ?verbose, ?exclude=CHECK, and one check below, as in /livez/loop
/metrics: Prometheus text
/status: JSON
";

#[derive(Clone)]
struct App {
    board: Arc<Board>,
    elapsed: fn() -> Duration,
}

/// Every path, answered from the newest view of `board`. `elapsed` reads the boot clock.
pub fn router(board: Arc<Board>, elapsed: fn() -> Duration) -> Router {
    let mut router = Router::new();
    for path in Path::ALL {
        let handler = get(move |State(app): State<App>, request: Request| async move { app.check(*path, &request) });
        router = router.route(&format!("/{path}"), handler.clone()).route(&format!("/{path}/{{*check}}"), handler);
    }
    router
        .route("/metrics", get(|State(app): State<App>| async move { app.metrics() }))
        .route("/status", get(|State(app): State<App>| async move { app.status() }))
        .fallback(|| async {
            Response::from(Answer::text(StatusCode::NOT_FOUND, format!("not found; there is\n{PATHS}")))
        })
        .with_state(App { board, elapsed })
}

impl App {
    fn now(&self) -> Tick {
        Tick::from_millis(0).after((self.elapsed)())
    }

    fn check(&self, path: Path, request: &Request) -> Response<Body> {
        let now = self.now();
        let view = self.board.view();
        let agent = Agent::of(request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok()));
        let Checked { answer, failed_for } = guarded(path, || checked(path, request, &view, now));
        self.board.note(Asked { path, agent, at: now, failed_for });
        answer.into()
    }

    fn metrics(&self) -> Response<Body> {
        let text = metrics::encode(&self.board.view(), &self.board.probes(), self.now());
        match text {
            Ok(body) => Answer { status: StatusCode::OK, content_type: metrics::CONTENT_TYPE, body }.into(),
            Err(error) => Answer::text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into(),
        }
    }

    fn status(&self) -> Response<Body> {
        let body = status::json(&self.board.view(), &self.board.probes(), self.now());
        match body {
            Ok(body) => Answer { status: StatusCode::OK, content_type: JSON, body }.into(),
            Err(error) => Answer::text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into(),
        }
    }
}

fn checked(path: Path, request: &Request, view: &View, now: Tick) -> Checked {
    let uri = request.uri();
    let below = uri.path().get(path.as_str().len() + 1..).and_then(|rest| rest.strip_prefix('/'));
    let only = below.filter(|below| !below.is_empty());
    check::answer(path, only, &Query::parse(uri.query()), view, now).unwrap_or_else(|names| Checked {
        answer: Answer::text(StatusCode::NOT_FOUND, format!("no such check; there is\n{}", names.join("\n"))),
        failed_for: None,
    })
}

/// A fault in here must not cost the operator its life: `/healthz` stays 200.
fn guarded(path: Path, answer: impl FnOnce() -> Checked) -> Checked {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
        let (status, line) = match path {
            Path::Healthz => (StatusCode::OK, format!("ok {}: an internal fault, see the log", Decision::Blind)),
            Path::Livez | Path::Readyz => {
                (StatusCode::INTERNAL_SERVER_ERROR, "failed: an internal fault, see the log".to_owned())
            }
        };
        Checked { answer: Answer::text(status, line), failed_for: None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_while_answering_never_fails_the_operators_probe() {
        let status = |path| guarded(path, || panic!("a fault")).answer.status;
        assert_eq!(status(Path::Healthz), StatusCode::OK);
        assert_eq!(status(Path::Livez), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
