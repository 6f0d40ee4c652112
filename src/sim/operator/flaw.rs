//! What goes wrong inside of an operator, and when it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What an operator does while it should serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// It reads its streams and dispatches nothing of what they say.
    Ignores,
    /// A worker that begins with an object never ends.
    Hangs,
    /// It passes the object by: a filter, a shard, a pause.
    Skips,
    /// Its cache takes nothing in any more; requeues go on, and each writes the status anew, from the old spec.
    StaleCache,
    /// Its timers are gone; events are served.
    ForgetsTimers,
    /// Every attempt fails and is said to; the next one comes after so many seconds.
    Fails {
        /// From one attempt to the next.
        retry: u64,
    },
}

/// Which objects a flaw concerns: those that fit everything that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aim {
    /// The plural of their resource.
    pub plural: Option<String>,
    /// What their name begins with.
    pub name: Option<String>,
    /// Half of all names, told apart by a sum over their letters: `true` for the odd half.
    pub half: Option<bool>,
}

/// The flaws in force. Clones are handles on the same ones, so that they can be changed while the operator runs.
#[derive(Debug, Clone, Default)]
pub struct Flaws {
    in_force: Arc<Mutex<Vec<InForce>>>,
}

#[derive(Debug)]
struct InForce {
    flaw: Flaw,
    aim: Aim,
    survives: bool,
}

impl Aim {
    /// The objects of one resource, by its plural.
    pub fn plural(plural: &str) -> Self {
        Self { plural: Some(plural.to_owned()), ..Self::default() }
    }

    /// The objects whose names begin so.
    pub fn name(beginning: &str) -> Self {
        Self { name: Some(beginning.to_owned()), ..Self::default() }
    }

    /// One half of all objects.
    pub fn half(odd: bool) -> Self {
        Self { half: Some(odd), ..Self::default() }
    }

    fn fits(&self, plural: &str, name: &str) -> bool {
        let is_odd = || name.bytes().fold(0_u8, u8::wrapping_add) % 2 == 1;
        self.plural.as_ref().is_none_or(|wanted| wanted == plural)
            && self.name.as_ref().is_none_or(|beginning| name.starts_with(beginning.as_str()))
            && self.half.is_none_or(|odd| odd == is_odd())
    }
}

impl Flaws {
    /// Begins with the process and ends with it: a restart cures.
    pub fn begin(&self, flaw: Flaw, aim: Aim) {
        self.lock().push(InForce { flaw, aim, survives: false });
    }

    /// Outlives restarts: it lies in the code, in the data or in the configuration.
    pub fn begin_for_good(&self, flaw: Flaw, aim: Aim) {
        self.lock().push(InForce { flaw, aim, survives: true });
    }

    /// The process was restarted.
    pub fn restarted(&self) {
        self.lock().retain(|active| active.survives);
    }

    /// Ends all.
    pub fn end_all(&self) {
        self.lock().clear();
    }

    /// The flaws that concern an object.
    pub(super) fn of(&self, plural: &str, name: &str) -> Vec<Flaw> {
        self.lock().iter().filter(|active| active.aim.fits(plural, name)).map(|active| active.flaw).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<InForce>> {
        self.in_force.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
