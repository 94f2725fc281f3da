//! Which method solves a problem, with its options.

use super::{ForwardBackward, Rule};
use crate::rng::SplitMix64;

/// LIBLINEAR's limit, hard-wired there.
const LIBLINEAR_SWEEPS: u64 = 1_000;

/// PRoXML's limit, hard-wired there.
const PROXML_STEPS: u64 = 1_800;

/// Where methods that go for the gap give up.
const MANY: u64 = 100_000;

/// Which method solves the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Working sets, coordinate descent, Newton on the support: the fast one.
    Auto,
    /// Coordinate descent over all features, plainly: the one to check against.
    CoordinateDescent {
        /// The sweeps before the first look at the gap end once no violation is
        /// above `eps * alpha`; later ones at a tenth of that, and so on.
        eps: f64,
    },
    /// Proximal gradient steps, as in PRoXML or accelerated: to be compared with.
    ForwardBackward(ForwardBackward),
    /// LIBLINEAR's `-s 5` as it is published, its stop rule included: what it
    /// returns need not be an optimum, and the certificate says how far it is.
    Liblinear {
        /// LIBLINEAR's `-e`.
        eps: f64,
        /// Seed of the order of coordinates.
        seed: u64,
    },
    /// LIBLINEAR's `-s 1`: not the L1 problem but
    ///
    /// ```text
    /// 1/2 ||w||^2 (+ 1/2 (b / scale)^2) + c sum_i c_i max(0, 1 - s_i (x_i . w + b))^2
    /// ```
    ///
    /// [`Problem::alpha`](super::Problem::alpha) has no part in it, and there is
    /// no further ridge. A penalised intercept is in the squared term.
    DualCoordinateDescent {
        /// LIBLINEAR's `-c`: the weight of all losses.
        c: f64,
        /// LIBLINEAR's `-e`.
        eps: f64,
        /// Seed of the order of samples.
        seed: u64,
    },
}

impl Method {
    /// The limit that `max_iter=None` stands for.
    pub fn default_max_iter(self) -> u64 {
        match self {
            Self::Auto | Self::CoordinateDescent { .. } => MANY,
            Self::ForwardBackward(options) => match options.rule {
                Rule::Step { .. } => PROXML_STEPS,
                Rule::Gap => MANY,
            },
            Self::Liblinear { .. } | Self::DualCoordinateDescent { .. } => LIBLINEAR_SWEEPS,
        }
    }

    /// The same method with random numbers of its own for unit `unit` of the work
    /// (a tree, a node, a problem): results then do not depend on who did what first.
    #[must_use]
    pub fn for_unit(mut self, unit: u64) -> Self {
        if let Self::Liblinear { seed, .. } | Self::DualCoordinateDescent { seed, .. } = &mut self {
            *seed = SplitMix64::stream(*seed, unit).next_u64();
        }
        self
    }

    /// Whether the method stops by a rule of its own, not by the gap.
    pub(super) fn has_own_rule(self) -> bool {
        match self {
            Self::Auto | Self::CoordinateDescent { .. } => false,
            Self::ForwardBackward(options) => options.rule != Rule::Gap,
            Self::Liblinear { .. } | Self::DualCoordinateDescent { .. } => true,
        }
    }
}
