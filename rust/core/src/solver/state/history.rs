//! What a solve records of its way, on a clock that its records do not move.

use super::Workspace;
use crate::parallel::thread_cpu_seconds;
use crate::solver::Moment;
use crate::solver::certificate::Proof;

/// The looks at the gap of one solve.
#[derive(Debug, Default)]
pub(super) struct History {
    /// CPU seconds of this thread when the solve began, if there is a history;
    /// [`Workspace::watch_proof`] moves it on.
    clock: Option<f64>,
    watched_s: f64,
    moments: Vec<Moment>,
}

impl History {
    /// Forget the last solve; record this one's if its start is given.
    pub(super) fn begin(&mut self, clock: Option<f64>) {
        self.clock = clock;
        self.watched_s = 0.0;
        self.moments.clear();
    }
}

impl Workspace {
    /// The looks at the gap of the last solve, if they were recorded.
    pub fn history(&self) -> &[Moment] {
        &self.history.moments
    }

    /// CPU seconds of the last solve that went into its history alone: looks that
    /// the method itself does not need.
    pub fn watched_seconds(&self) -> f64 {
        self.history.watched_s
    }

    pub(in crate::solver) fn scale_history(&mut self, unit: f64) {
        for (_, objective, gap) in &mut self.history.moments {
            *objective *= unit;
            *gap *= unit;
        }
    }

    pub(in crate::solver) fn record(&mut self, objective: f64, gap: f64) {
        if let Some(clock) = self.history.clock {
            let seconds = thread_cpu_seconds() - clock;
            self.history.moments.push((seconds, objective, gap));
        }
    }

    /// Record what `prove` finds, as of now: its own time does not count. Nothing
    /// is done where no history is kept.
    pub(in crate::solver) fn watch_proof(&mut self, prove: impl FnOnce(&mut Self) -> Proof) {
        if let Some(clock) = self.history.clock.take() {
            let begun = thread_cpu_seconds();
            let proof = prove(self);
            let moment = (begun - clock, proof.objective, proof.gap());
            self.history.moments.push(moment);
            let took = thread_cpu_seconds() - begun;
            self.history.watched_s += took;
            self.history.clock = Some(clock + took);
        }
    }
}
