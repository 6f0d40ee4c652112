//! Events on the own Pod, which `kubectl describe pod` shows.
//!
//! One Event per reason and message is created and counted up when it happens again, as client-go does. What is sent is
//! limited in rate: a burst of 25, then one in 5 minutes, client-go's own numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Request;
use http::header::{CONTENT_TYPE, HeaderValue};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::list::is_name;
use super::request::{self, Client};

/// The name under which Events are reported.
const COMPONENT: &str = "dogwatch";
/// So many Events may be sent at once.
const BURST: u32 = 25;
/// One more may be sent each time this has passed.
const REFILL: Duration = Duration::from_mins(5);
/// The API server refuses longer messages.
const MESSAGE_LIMIT: usize = 1024;
/// An Event is gone after an hour; counting up an older one would fail.
const COUNTED_FOR: Duration = Duration::from_mins(50);
/// So many are remembered for counting up; there are fewer reasons.
const REMEMBERED: usize = 32;
/// An answer is as long as the Event.
const MAX_BYTES: usize = 64 * 1024;

/// The Pod that Events are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty where it is not known. `kubectl describe` then does not find the Event.
    pub uid: String,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its reason, in CamelCase.
    pub reason: &'static str,
    /// Whether a person should look.
    pub is_warning: bool,
    /// One sentence.
    pub message: String,
}

/// What became of an Event.
#[derive(Debug)]
pub enum Sent {
    /// The API server took it.
    Taken,
    /// Too many were sent; this one was not.
    Limited,
}

/// Sends Events.
#[derive(Debug)]
pub struct Recorder {
    tokens: u32,
    refilled: Duration,
    counted: BTreeMap<(&'static str, String), Counted>,
    /// Tells the names of Events apart; the start of this process in it keeps them apart from an earlier one's.
    serial: u64,
}

#[derive(Debug, Clone)]
struct Counted {
    name: String,
    count: u32,
    first: Timestamp,
    at: Duration,
}

impl Recorder {
    /// A recorder that has sent nothing. `started` is any number that differs from process to process.
    pub const fn new(started: u64) -> Self {
        Self { tokens: BURST, refilled: Duration::ZERO, counted: BTreeMap::new(), serial: started }
    }

    /// Sends one Event: a new one, or the count of one that said the same. `wall` stamps it; `elapsed`, which never goes
    /// back, limits the rate.
    ///
    /// # Errors
    /// When the API server does not take it. It is not sent again.
    pub async fn send(
        &mut self,
        client: &Client,
        about: &About,
        event: Event,
        wall: Timestamp,
        elapsed: Duration,
    ) -> Result<Sent, request::Error> {
        if !self.take_token(elapsed) {
            return Ok(Sent::Limited);
        }
        let key = (event.reason, event.message.clone());
        let known = self.counted.get(&key).filter(|known| elapsed.saturating_sub(known.at) < COUNTED_FOR).cloned();
        if let Some(known) = known {
            let counted = Counted { count: known.count.saturating_add(1), at: elapsed, ..known };
            match count_up(client, about, &counted, wall).await {
                Ok(()) => {
                    self.counted.insert(key, counted);
                    return Ok(Sent::Taken);
                }
                // It is gone, or may not be changed: a new one is as good.
                Err(request::Error::NotFound { .. } | request::Error::Forbidden { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.serial = self.serial.wrapping_add(1);
        let name = format!("{}.{:016x}", about.name, self.serial);
        create(client, about, &event, &name, wall).await?;
        self.remember(key, Counted { name, count: 1, first: wall, at: elapsed });
        Ok(Sent::Taken)
    }

    fn take_token(&mut self, now: Duration) -> bool {
        let passed = now.saturating_sub(self.refilled);
        let earned = u32::try_from(passed.as_secs() / REFILL.as_secs()).unwrap_or(u32::MAX);
        if self.tokens >= BURST {
            self.refilled = now;
        } else if earned > 0 {
            self.tokens = self.tokens.saturating_add(earned).min(BURST);
            self.refilled = self.refilled.saturating_add(REFILL.saturating_mul(earned));
        }
        let has_token = self.tokens > 0;
        self.tokens = self.tokens.saturating_sub(1);
        has_token
    }

    fn remember(&mut self, key: (&'static str, String), counted: Counted) {
        if self.counted.len() >= REMEMBERED
            && let Some(oldest) = self.counted.iter().min_by_key(|(_, it)| it.at).map(|(key, _)| key.clone())
        {
            self.counted.remove(&oldest);
        }
        self.counted.insert(key, counted);
    }
}

async fn create(
    client: &Client,
    about: &About,
    event: &Event,
    name: &str,
    wall: Timestamp,
) -> Result<(), request::Error> {
    let message: String = event.message.chars().take(MESSAGE_LIMIT).collect();
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "namespace": about.namespace, "name": about.name});
    if !about.uid.is_empty() {
        pod["uid"] = Value::from(about.uid.as_str());
    }
    let at = seconds(wall);
    let body = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": about.namespace},
        "involvedObject": pod,
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "message": message,
        "count": 1,
        "firstTimestamp": at,
        "lastTimestamp": at,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": about.name,
    });
    let request = Request::post(path(about, None)?).body(body.to_string().into_bytes());
    send(client, request, "application/json").await
}

async fn count_up(client: &Client, about: &About, counted: &Counted, wall: Timestamp) -> Result<(), request::Error> {
    let body = json!({
        "count": counted.count, "firstTimestamp": seconds(counted.first), "lastTimestamp": seconds(wall),
    });
    let request = Request::patch(path(about, Some(&counted.name))?).body(body.to_string().into_bytes());
    send(client, request, "application/merge-patch+json").await
}

async fn send(
    client: &Client,
    request: Result<Request<Vec<u8>>, http::Error>,
    form: &'static str,
) -> Result<(), request::Error> {
    let mut request = request
        .map_err(|error| request::Error::Refused { status: 400, message: request::one_line(&error.to_string()) })?;
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(form));
    let answer = client.send_patiently(request, client.deadline()).await?;
    answer.body.collect(MAX_BYTES).await.map(drop)
}

fn path(about: &About, name: Option<&str>) -> Result<String, request::Error> {
    if !is_name(&about.namespace) || !is_name(&about.name) {
        let message = "the own Pod's namespace or name cannot stand in a path".to_owned();
        return Err(request::Error::Refused { status: 400, message });
    }
    let name = name.map(|name| format!("/{name}")).unwrap_or_default();
    Ok(format!("/api/v1/namespaces/{}/events{name}", about.namespace))
}

/// `metav1.Time` has whole seconds.
fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::script::{Reply, client};
    use super::*;

    fn about() -> About {
        About { namespace: "prod".to_owned(), name: "web-0".to_owned(), uid: "u-1".to_owned() }
    }

    fn asleep() -> Event {
        Event { reason: "OperatorAsleep", is_warning: true, message: "asleep".to_owned() }
    }

    async fn sent(replies: Vec<Reply>, at: &[u64]) -> (Vec<Result<Sent, request::Error>>, Vec<String>) {
        let (client, asked) = client(replies).await;
        let mut recorder = Recorder::new(6);
        let mut results = Vec::new();
        for second in at {
            let elapsed = Duration::from_secs(*second);
            results.push(recorder.send(&client, &about(), asleep(), Timestamp::UNIX_EPOCH, elapsed).await);
        }
        (results, asked.targets())
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_again_is_counted_up() {
        let (results, asked) = sent(vec![Reply::json(201, "{}"), Reply::ok("{}")], &[0, 10]).await;
        assert!(results.iter().all(|result| matches!(result, Ok(Sent::Taken))), "{results:?}");
        assert_eq!(asked, ["/api/v1/namespaces/prod/events", "/api/v1/namespaces/prod/events/web-0.0000000000000007"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_is_gone_is_created_anew() {
        let gone = Reply::status(404, "NotFound", "gone");
        let (results, asked) = sent(vec![Reply::ok("{}"), gone, Reply::ok("{}")], &[0, 10]).await;
        assert!(results.iter().all(Result::is_ok));
        assert_eq!(asked.last().map(String::as_str), Some("/api/v1/namespaces/prod/events"));
        let (_, asked) = sent(vec![Reply::ok("{}"), Reply::ok("{}")], &[0, 3600]).await;
        assert!(asked.iter().all(|target| target == "/api/v1/namespaces/prod/events"), "too old to be counted up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_limited_and_earned_back() {
        let (results, asked) = sent(vec![Reply::ok("{}"); 40], &[0; 30]).await;
        assert_eq!(results.iter().filter(|result| matches!(result, Ok(Sent::Limited))).count(), 5);
        assert_eq!(asked.len(), 25);
        let at: Vec<u64> = std::iter::repeat_n(0, 25).chain([10, 301, 302, 602]).collect();
        let (results, _) = sent(vec![Reply::ok("{}"); 40], &at).await;
        let limited: Vec<bool> = results[25..].iter().map(|result| matches!(result, Ok(Sent::Limited))).collect();
        assert_eq!(limited, [true, false, true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_told() {
        let (results, _) = sent(vec![Reply::status(403, "Forbidden", "no")], &[0]).await;
        assert!(matches!(results[0], Err(request::Error::Forbidden { .. })));
    }
}
