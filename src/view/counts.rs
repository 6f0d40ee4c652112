//! Counters by a word of a closed set.

use std::collections::BTreeMap;

/// How often each word was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts<K>(BTreeMap<K, u64>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord + Copy> Counts<K> {
    /// Counts `word` once more.
    pub fn add(&mut self, word: K) {
        self.add_many(word, 1);
    }

    /// Counts `word` so many times more.
    pub fn add_many(&mut self, word: K, times: u64) {
        let count = self.0.entry(word).or_default();
        *count = count.saturating_add(times);
    }

    /// How often `word` was counted.
    pub fn of(&self, word: K) -> u64 {
        self.0.get(&word).copied().unwrap_or(0)
    }
}
