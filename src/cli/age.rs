//! Durations as kubectl's tables print them.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// The duration in at most two units, the coarser the longer it is: `45s`, `5m30s`, `2h`, `3d5h`, `2y10d`.
pub fn short(age: Duration) -> String {
    let seconds = age.as_secs();
    let two = |whole: u64, unit: &str, rest: u64, small: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{small}") }
    };
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        _ => two(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    #[test]
    fn ages_get_coarser_as_they_grow() {
        for (seconds, expected) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (330, "5m30s"),
            (3600, "60m"),
            (10_800, "3h"),
            (11_700, "3h15m"),
            (100_000, "27h"),
            (172_800 + 18_000, "2d5h"),
            (400 * 86_400, "400d"),
            (800 * 86_400, "2y70d"),
        ] {
            assert_eq!(super::short(Duration::from_secs(seconds)), expected);
        }
    }
}
