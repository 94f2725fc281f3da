//! One binary problem: its parts, the methods that solve it, the proof.
//!
//! Every method minimises, over sparse `w` and the intercept `b`,
//!
//! ```text
//! P(w, b) = alpha (||w||_1 + |b| / scale) + ridge/2 ||w||^2
//!         + sum_i c_i max(0, 1 - s_i (x_i . w + b))^2
//! ```
//!
//! with `s_i` = +1 for positives, -1 for all others, `c_i` the sample's weight
//! times that of its class, and `scale` the value of the intercept's column
//! (LIBLINEAR's `-B`). LIBLINEAR's `C` is `1 / alpha`.
//! Source: Babbar and Schölkopf, "Data scarcity, robustness and extreme
//! multi-label classification", Machine Learning 108, 2019, eq. (4).

mod auto;
mod certificate;
mod compact;
mod coordinate_descent;
mod descent;
mod design;
mod dual_coordinate_descent;
mod forward_backward;
mod gradient;
mod intercept;
mod liblinear;
mod method;
mod newton;
mod proximal;
mod ray;
mod rounding;
mod rounds;
mod scatter;
mod siblings;
mod smooth;
mod squared;
mod state;
mod support;
mod sweeps;

pub use design::Design;
pub use dual_coordinate_descent::SharedStart;
pub use forward_backward::{ForwardBackward, Rule};
pub use method::Method;
pub use siblings::{LANES, Siblings};
pub use state::Workspace;
pub(crate) use sweeps::copied_bytes;

use crate::parallel::{Control, thread_cpu_seconds};
use crate::{Error, Result};

use certificate::{prove, prove_as_is};
use state::Scaled;

/// The constant column beside the features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Intercept {
    /// No such column.
    None,
    /// A column of this value whose weight is in the L1 term, as LIBLINEAR's `-B`.
    Penalized(f64),
    /// A column whose weight is not penalised.
    Free,
}

/// One label (or one child of a node) against the rest.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The rows, shared with other problems.
    pub design: &'a Design<'a>,
    /// Ids of the positive rows, sorted.
    pub positives: &'a [u32],
    /// Weight of the L1 term, > 0.
    pub alpha: f64,
    /// Weight of the squared l2 term, >= 0; the intercept is never in it.
    pub ridge: f64,
    /// Class weights (positives, negatives), > 0.
    pub class_weight: (f64, f64),
    /// The intercept's kind.
    pub intercept: Intercept,
}

/// What ends a solve before `max_iter`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stop {
    /// A relative duality gap of at most `tol`.
    Gap,
    /// Besides, once the violations of a sweep add up to at most this share of
    /// those of the first: enough for the nodes of a deep tree, where the gap of
    /// an unfinished solve says little about ranking. [`Method::Auto`] only.
    Violation(f64),
}

/// When to stop and what to keep.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// Relative duality gap to reach: `gap <= tol * dual_objective`.
    pub tol: f64,
    /// What ends the solve.
    pub stop: Stop,
    /// Most iterations: sweeps and Newton steps together, or proximal steps.
    pub max_iter: u64,
    /// Weights below this in absolute value are set to zero after the solve.
    pub prune: f64,
    /// End with weights that are exact as `f32`, certified as such; in a deep
    /// tree that stops on violations with the 8 significant bits of bfloat16.
    pub round_weights: bool,
    /// End with an intercept that is exact as `f32` too: deep trees store it so,
    /// those that stop on violations with 12 significant bits.
    pub round_intercept: bool,
    /// Record (seconds, objective, gap) at every look at the gap.
    pub history: bool,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The gap is within the tolerance.
    Converged = 0,
    /// `max_iter` came first.
    MaxIter = 1,
    /// No step lowers the objective any more in floating point, pruning widened
    /// the gap beyond the tolerance, or a rule of the method's own, such as
    /// [`Rule::Step`], ended it short of that.
    Stalled = 2,
    /// The caller asked to stop.
    Cancelled = 3,
}

/// The proof that comes with a solution: `objective - gap <= P(w*)`.
#[derive(Clone, Copy, Debug)]
pub struct Certificate {
    /// `P` at the weights as returned.
    pub objective: f64,
    /// `D` at a feasible dual point: a lower bound on every objective.
    pub dual_objective: f64,
    /// Sweeps and Newton steps, or proximal steps.
    pub n_iter: u64,
    /// How the solve ended.
    pub status: Status,
    /// The intercept as added to scores.
    pub intercept: f64,
}

impl Certificate {
    /// The duality gap `objective - dual_objective`, an absolute number.
    pub fn gap(&self) -> f64 {
        self.objective - self.dual_objective
    }
}

/// One look at the gap: CPU seconds since the start, objective, gap. Looks that the
/// method does not need take no time.
pub type Moment = (f64, f64, f64);

/// Solve one problem; the weights stay in `workspace` ([`Workspace::weights`]).
///
/// `start` holds weights to begin from, as (feature, weight) pairs; the
/// intercept is always found anew. Deterministic. Cost: see [`Method`].
///
/// # Errors
/// [`Error::Data`] where a number is outside its range, or all together are so
/// large that the objective overflows; [`Error::Memory`] without room for what
/// [`Method::ForwardBackward`] keeps.
pub fn solve(
    problem: &Problem<'_>,
    settings: &Settings,
    start: &[(u32, f64)],
    workspace: &mut Workspace,
    control: &Control,
) -> Result<Certificate> {
    check(problem, settings)?;
    workspace.begin(problem, settings.history.then(thread_cpu_seconds));
    for &(j, w) in start {
        workspace.set_weight(problem.design, j, w);
    }
    let certificate = match settings.method {
        Method::DualCoordinateDescent { c, eps, seed } => {
            let options = (c, eps, seed);
            dual_coordinate_descent::run(problem, settings, options, workspace, control)
        }
        _ => solve_l1(problem, settings, workspace, control)?,
    };
    workspace.finish();
    if !certificate.objective.is_finite() {
        return Err(Error::data(OVERFLOW));
    }
    Ok(certificate)
}

/// The methods of the L1 problem, whose units are those of the negatives' weight.
fn solve_l1(
    problem: &Problem<'_>,
    settings: &Settings,
    workspace: &mut Workspace,
    control: &Control,
) -> Result<Certificate> {
    // A method that is not even to begin leaves the best intercept, like all others.
    let own_rule = settings.method.has_own_rule() && settings.max_iter > 0;
    let mut certificate = match settings.method {
        Method::CoordinateDescent { eps } => {
            coordinate_descent::run(problem, settings, eps, workspace, control)
        }
        Method::ForwardBackward(options) if settings.max_iter > 0 => {
            forward_backward::run(problem, options, settings, workspace, control)?
        }
        Method::Liblinear { eps, seed } if own_rule => {
            liblinear::run(problem, settings, (eps, seed), workspace, control)
        }
        _ => match settings.stop {
            Stop::Gap => auto::run(problem, settings, workspace, control),
            Stop::Violation(share) => sweeps::run(problem, settings, share, workspace, control),
        },
    };
    if settings.prune > 0.0 && certificate.status != Status::Cancelled {
        workspace.prune(settings.prune);
        let prove = if own_rule { prove_as_is } else { prove };
        let proof = prove(&Scaled::new(problem, control), settings, workspace);
        certificate = proof.certificate(
            workspace,
            certificate.n_iter,
            match certificate.status {
                // Pruning took what the tolerance needs, and no step follows.
                Status::Converged if !proof.is_within(settings.tol) => Status::Stalled,
                status => status,
            },
        );
    }
    // Inside, negatives weigh 1; the caller's scale comes back here.
    let unit = problem.class_weight.1;
    certificate.objective *= unit;
    certificate.dual_objective *= unit;
    workspace.scale_history(unit);
    Ok(certificate)
}

const OVERFLOW: &str = "the objective overflows: the weights (of classes, samples, alpha, \
                        ridge), the start or X are too large";

fn check(problem: &Problem<'_>, settings: &Settings) -> Result<()> {
    let positive = |name: &str, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(Error::data(format!(
                "{name} is {value}, expected a finite value > 0"
            )))
        }
    };
    positive("alpha", problem.alpha)?;
    positive("class_weight (positives)", problem.class_weight.0)?;
    positive("class_weight (negatives)", problem.class_weight.1)?;
    positive("tol", settings.tol)?;
    positive(
        "alpha / class_weight",
        problem.alpha / problem.class_weight.1,
    )?;
    let ratio = problem.class_weight.0 / problem.class_weight.1;
    if !(1e-12..=1e12).contains(&ratio) {
        return Err(Error::data(format!(
            "class weights are ({:e}, {:e}) with the levers, expected a ratio between 1e-12 and 1e12",
            problem.class_weight.0, problem.class_weight.1
        )));
    }
    if settings.method != Method::Auto && settings.stop != Stop::Gap {
        return Err(Error::data(
            "violation_tol needs solver \"auto\"; the others end by rules of their own",
        ));
    }
    match settings.method {
        Method::Auto => {}
        Method::ForwardBackward(options) => options.check()?,
        Method::CoordinateDescent { eps } | Method::Liblinear { eps, .. } => positive("eps", eps)?,
        Method::DualCoordinateDescent { c, eps, .. } => {
            positive("C", c)?;
            positive("eps", eps)?;
            if problem.ridge != 0.0 {
                return Err(Error::data(format!(
                    "ridge is {}, expected 0 with solver \"dual_coordinate_descent\", whose \
                     squared term is 1/2 ||w||^2",
                    problem.ridge
                )));
            }
        }
    }
    if let Intercept::Penalized(scale) = problem.intercept {
        positive("intercept_scaling", scale)?;
    }
    if !(problem.ridge >= 0.0 && problem.ridge.is_finite()) {
        return Err(Error::data(format!(
            "ridge is {}, expected a finite value >= 0",
            problem.ridge
        )));
    }
    if let Some(&last) = problem.positives.last()
        && last as usize >= problem.design.n_samples()
    {
        return Err(Error::data(format!(
            "positive row {last} is outside [0, {})",
            problem.design.n_samples()
        )));
    }
    Ok(())
}
