//! Which method solves a problem, with its options.

use super::ForwardBackward;

/// Where methods that go for the gap give up.
pub(super) const MANY: u64 = 100_000;

/// Which method solves the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Working sets, coordinate descent, Newton on the support: the fast one.
    Auto,
    /// Coordinate descent over all features, plainly: the one to check against.
    CoordinateDescent,
    /// Proximal gradient steps, as in PRoXML or accelerated: to be compared with.
    ForwardBackward(ForwardBackward),
}

impl Method {
    /// The limit that `max_iter=None` stands for.
    pub fn default_max_iter(self) -> u64 {
        match self {
            Self::Auto | Self::CoordinateDescent => MANY,
            Self::ForwardBackward(options) => options.default_max_iter(),
        }
    }
}
