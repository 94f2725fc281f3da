//! What a thread keeps between steps of a solve, and reuses for every problem.

mod history;
mod margins;

use std::sync::Arc;

use self::history::History;
use super::compact::Compact;
use super::design::LIST_BYTES;
use super::dual_coordinate_descent::SharedStart;
use super::gradient::Gradient;
use super::newton::NewtonBuffers;
use super::rounding::round_to;
use super::support::Support;
use super::{Design, Intercept, Problem};
use crate::Result;
use crate::memory::check_room;
use crate::parallel::Control;

/// One sample as the column kernels see it: 16 bytes, one cache line per gather.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// `x_i . w`, without the intercept: a step of the intercept then costs
    /// nothing per row.
    pub(super) margin: f64,
    /// `s_i c_i`, where negatives weigh their sample weight: the sign bit is the
    /// class, also of a row that weighs nothing.
    pub(super) signed_weight: f64,
}

impl Row {
    /// `s_i`: +1 or -1.
    #[inline]
    pub(super) fn sign(&self) -> f64 {
        1.0_f64.copysign(self.signed_weight)
    }

    /// `c_i`.
    #[inline]
    pub(super) fn weight(&self) -> f64 {
        self.signed_weight.abs()
    }

    /// `1 - s (margin + intercept)`: the loss is the square of its positive part.
    #[inline]
    pub(super) fn hinge(&self, intercept: f64) -> f64 {
        1.0 - self.sign() * (self.margin + intercept)
    }
}

/// A problem in the units of its negatives (their class weight is 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled<'a> {
    pub(super) design: &'a Design<'a>,
    pub(super) control: &'a Control,
    pub(super) alpha: f64,
    pub(super) ridge: f64,
    /// Class weight of positives.
    pub(super) positive_weight: f64,
    /// L1 weight on the intercept as added to scores; `None`: no intercept.
    pub(super) intercept_alpha: Option<f64>,
}

impl<'a> Scaled<'a> {
    pub(super) fn new(problem: &Problem<'a>, control: &'a Control) -> Self {
        let unit = problem.class_weight.1;
        let alpha = problem.alpha / unit;
        Self {
            design: problem.design,
            control,
            alpha,
            ridge: problem.ridge / unit,
            positive_weight: problem.class_weight.0 / unit,
            intercept_alpha: match problem.intercept {
                Intercept::None => None,
                Intercept::Penalized(scale) => Some(alpha / scale),
                Intercept::Free => Some(0.0),
            },
        }
    }
}

/// Of a sample: its [`Row`], flag, id when touched, compact id; the row and the
/// residual of a certificate; and a dual method's own variables.
const ROW_BYTES: u64 = 16 + 1 + 4 + 4 + 32 + 44;

/// Of a feature: weight, gradient, three flags; places in the gradient's two lists;
/// square sum and place in a sweep.
const FEATURE_BYTES: u64 = 8 + 8 + 3 + 8 + 12;

/// The memory of one thread's solves over one [`Design`].
///
/// A negative row none of whose features ever had a weight has margin 0, like
/// all its kind: such rows stay *untouched* and are one number, their weight.
/// Only touched rows are ever looped over, and only they are cleared between
/// problems, so a problem of few positives costs little however long the data.
#[derive(Debug)]
pub struct Workspace {
    pub(super) rows: Vec<Row>,
    pub(super) is_touched: Vec<bool>,
    pub(super) touched: Vec<u32>,
    /// The touched rows side by side, for passes that only read.
    pub(super) gathered: Vec<Row>,
    /// Rows with a residual at the last certificate, and theirs.
    pub(super) residuals: Vec<(u32, f64)>,
    /// The margins are those of the weights, computed from nothing.
    pub(super) is_fresh: bool,
    n_positives: usize,
    /// Weights of all positives and of all negatives.
    class_totals: (f64, f64),
    untouched_weight: f64,
    pub(super) weights: Vec<f64>,
    /// Features whose rows are all touched.
    is_seen: Vec<bool>,
    pub(super) seen: Vec<u32>,
    pub(super) intercept: f64,
    /// Gradient of the loss and ridge at the last certificate.
    pub(super) gradient: Gradient,
    pub(super) working_set: Vec<u32>,
    pub(super) sweep_list: Vec<u32>,
    pub(super) sweeps: super::sweeps::Buffers,
    pub(super) in_working_set: Vec<bool>,
    pub(super) candidates: Vec<u32>,
    pub(super) support: Support,
    pub(super) newton: NewtonBuffers,
    pub(super) compact: Compact,
    /// Scratch of the certificate.
    pub(super) steep: Vec<f64>,
    pub(super) shared_start: Option<Arc<SharedStart>>,
    solution: Vec<(u32, f64)>,
    n_pruned: u64,
    history: History,
}

impl Workspace {
    /// Whether there is room for `n_threads` workspaces, for the lists of columns that
    /// their problems share, and for `copies`, the bytes of what they copy out of the
    /// design.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory).
    pub fn check_room(design: &Design<'_>, n_threads: usize, copies: u64) -> Result<()> {
        let (n, d) = (design.n_samples() as u64, design.n_features() as u64);
        let bytes = ROW_BYTES * n + FEATURE_BYTES * d;
        check_room(
            format!("solving {n} samples x {d} features on {n_threads} threads"),
            bytes.saturating_mul(n_threads as u64) + LIST_BYTES * d + copies,
        )
    }

    /// Memory for problems over `design`.
    pub fn new(design: &Design<'_>) -> Self {
        let (n, d) = (design.n_samples(), design.n_features());
        Self {
            rows: (0..n).map(|i| untouched_row(design, i)).collect(),
            is_touched: vec![false; n],
            touched: Vec::new(),
            gathered: Vec::new(),
            residuals: Vec::new(),
            is_fresh: false,
            n_positives: 0,
            class_totals: (0.0, 0.0),
            untouched_weight: 0.0,
            weights: vec![0.0; d],
            is_seen: vec![false; d],
            seen: Vec::new(),
            intercept: 0.0,
            gradient: Gradient::new(d),
            working_set: Vec::new(),
            sweep_list: Vec::new(),
            sweeps: super::sweeps::Buffers::default(),
            in_working_set: vec![false; d],
            candidates: Vec::new(),
            support: Support::new(n),
            newton: NewtonBuffers::default(),
            compact: Compact::default(),
            steep: Vec::new(),
            shared_start: None,
            solution: Vec::new(),
            n_pruned: 0,
            history: History::default(),
        }
    }

    /// The same memory, where problems without a start of their own begin at `start`.
    #[must_use]
    pub fn with_start(mut self, start: Option<Arc<SharedStart>>) -> Self {
        self.shared_start = start;
        self
    }

    /// The weights of the last solve: (feature, weight), sorted, none zero.
    pub fn weights(&self) -> &[(u32, f64)] {
        &self.solution
    }

    /// How many weights of the last solve [`prune`](super::Settings::prune) set to zero.
    pub fn n_pruned(&self) -> u64 {
        self.n_pruned
    }

    /// Forget the last problem and set up the signs of this one.
    pub(super) fn begin(&mut self, problem: &Problem<'_>, clock: Option<f64>) {
        let design = problem.design;
        for &i in &self.touched {
            self.is_touched[i as usize] = false;
            self.rows[i as usize] = untouched_row(design, i as usize);
        }
        for &j in &self.seen {
            self.is_seen[j as usize] = false;
            self.weights[j as usize] = 0.0;
        }
        for &j in &self.working_set {
            self.in_working_set[j as usize] = false;
        }
        self.touched.clear();
        self.is_fresh = false;
        self.seen.clear();
        self.working_set.clear();
        self.solution.clear();
        self.n_pruned = 0;
        self.history.begin(clock);
        self.intercept = 0.0;
        self.untouched_weight = design.total_weight();
        let factor = problem.class_weight.0 / problem.class_weight.1;
        let mut positive = 0.0;
        for &i in problem.positives {
            self.touch(i);
            let row = &mut self.rows[i as usize];
            row.signed_weight *= -factor;
            positive += row.weight();
        }
        self.n_positives = self.touched.len();
        self.recount_untouched(design);
        self.class_totals = (positive, self.untouched_weight);
    }

    /// Weights of all positives and of all negatives.
    pub(super) fn class_totals(&self) -> (f64, f64) {
        self.class_totals
    }

    /// How many positive rows there are.
    pub(super) fn n_positives(&self) -> usize {
        self.n_positives
    }

    /// Remember which features have a weight, touching no row: for methods that
    /// keep their margins elsewhere.
    pub(super) fn note_weights(&mut self) {
        for (j, &w) in self.weights.iter().enumerate() {
            if w != 0.0 && !self.is_seen[j] {
                self.is_seen[j] = true;
                self.seen.push(j as u32);
            }
        }
    }

    /// Set one weight; margins follow at the next [`Self::refresh`].
    pub(super) fn set_weight(&mut self, design: &Design<'_>, j: u32, w: f64) {
        if w != 0.0 {
            self.see(design, j);
            self.weights[j as usize] = w;
        }
    }

    /// Set a weight that is zero; rows and margins follow at the next
    /// [`Self::refresh`], which must come before anything else.
    pub(super) fn put_weight(&mut self, j: u32, w: f64) {
        if w != 0.0 {
            self.is_seen[j as usize] = true;
            self.seen.push(j);
            self.weights[j as usize] = w;
        }
    }

    /// Start the working set with the features that have a weight.
    pub(super) fn begin_working_set(&mut self) {
        let mut set = std::mem::take(&mut self.working_set);
        set.extend(self.nonzero());
        for &j in &set {
            self.in_working_set[j as usize] = true;
        }
        self.working_set = set;
    }

    /// Features with a weight, in the order they were seen.
    pub(super) fn nonzero(&self) -> impl Iterator<Item = u32> + '_ {
        self.seen
            .iter()
            .copied()
            .filter(|&j| self.weights[j as usize] != 0.0)
    }

    /// Round the weights to `f32` of so many significant bits, as they will be
    /// stored.
    pub(super) fn round_weights(&mut self, n_bits: u32) {
        for &j in &self.seen {
            let w = &mut self.weights[j as usize];
            *w = round_to(*w, n_bits);
        }
    }

    /// Set weights below `threshold` in absolute value to zero.
    pub(super) fn prune(&mut self, threshold: f64) {
        for &j in &self.seen {
            let w = &mut self.weights[j as usize];
            if *w != 0.0 && w.abs() < threshold {
                *w = 0.0;
                self.n_pruned += 1;
            }
        }
    }

    /// Keep the weights as the solution.
    pub(super) fn finish(&mut self) {
        let mut solution = std::mem::take(&mut self.solution);
        solution.extend(self.nonzero().map(|j| (j, self.weights[j as usize])));
        solution.sort_unstable_by_key(|&(j, _)| j);
        self.solution = solution;
    }
}

fn untouched_row(design: &Design<'_>, i: usize) -> Row {
    Row {
        margin: 0.0,
        signed_weight: -design.weight(i),
    }
}
