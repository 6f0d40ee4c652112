//! The first line of `/healthz`.

use crate::judge::decision::Headline;

/// The first line of `/healthz` for a decision. Call it when [`Headline`] changes and keep the text: it holds times, not
/// ages, and stays the same until the next decision. `oldest`: `namespace/name` of [`Headline::oldest`].
pub fn write(headline: &Headline, oldest: Option<&str>) -> String {
    let _ = oldest;
    format!("ok {}: since {}", headline.decision, headline.at.wall)
}
