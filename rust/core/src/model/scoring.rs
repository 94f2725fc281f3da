//! From margins along a path to the score of a label.

use crate::{Error, Result};

/// How the margins `z` on the way to a label become its score.
///
/// In a tree the score is `exp` of the sum of [`Scoring::step`] over the path:
/// each step stands for the log of P(child | parent, x).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scoring {
    /// The margin itself: one-vs-rest, a single tree of depth one.
    Margin,
    /// `-max(0, 1 - z)^2`, the loss that was minimised.
    /// Source: the label tree of LibMultiLabel before 0.10.
    Squared,
    /// `-max(0, 1 - z)^3`.
    Cubed,
    /// `ln sigmoid(3 z)`.
    /// Source: LibMultiLabel from 0.10 on (`prob_A = 3`).
    LogSigmoid,
}

impl Scoring {
    const ALL: [Self; 4] = [Self::Margin, Self::Squared, Self::Cubed, Self::LogSigmoid];

    /// The name used in files and by Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Margin => "margin",
            Self::Squared => "squared",
            Self::Cubed => "cubed",
            Self::LogSigmoid => "log_sigmoid",
        }
    }

    /// The rule called `name`.
    ///
    /// # Errors
    /// [`Error::Data`] listing the names there are.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|s| s.name() == name)
            .ok_or_else(|| {
                let known: Vec<_> = Self::ALL.iter().map(|s| s.name()).collect();
                Error::data(format!(
                    "scoring must be one of {}, not {name:?}",
                    known.join(", ")
                ))
            })
    }

    /// What one margin adds to the path score. Never falls with `z`; for trees
    /// never above 0, so that a path only gets worse on its way down.
    #[inline]
    pub fn step(self, z: f32) -> f32 {
        let missing = (1.0 - z).max(0.0);
        match self {
            Self::Margin => z,
            Self::Squared => -(missing * missing),
            Self::Cubed => -(missing * missing * missing),
            // Both forms are ln sigmoid(3 z); neither overflows where it is used.
            Self::LogSigmoid if z < 0.0 => 3.0 * z - (3.0 * z).exp().ln_1p(),
            Self::LogSigmoid => -(-3.0 * z).exp().ln_1p(),
        }
    }

    /// Into `paths`, which is resized: `path` and one step more for each margin.
    pub fn paths(self, path: f32, margins: &[f32], paths: &mut Vec<f32>) {
        // A loop for each rule, so that the simple ones are done several at once.
        fn fill(path: f32, margins: &[f32], paths: &mut Vec<f32>, step: impl Fn(f32) -> f32) {
            paths.clear();
            paths.extend(margins.iter().map(|&z| path + step(z)));
        }
        match self {
            Self::Margin => fill(path, margins, paths, |z| Self::Margin.step(z)),
            Self::Squared => fill(path, margins, paths, |z| Self::Squared.step(z)),
            Self::Cubed => fill(path, margins, paths, |z| Self::Cubed.step(z)),
            Self::LogSigmoid => fill(path, margins, paths, |z| Self::LogSigmoid.step(z)),
        }
    }

    /// The score of a path score.
    #[inline]
    pub fn score(self, path: f32) -> f32 {
        match self {
            Self::Margin => path,
            _ => path.exp(),
        }
    }

    /// The score of a label whose one margin is 0: `predict` returns those above.
    pub fn neutral(self) -> f32 {
        self.score(self.step(0.0))
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_their_closed_forms() {
        let half = |s: Scoring| s.step(0.5);
        assert_eq!(half(Scoring::Margin), 0.5);
        assert_eq!(half(Scoring::Squared), -0.25);
        assert_eq!(half(Scoring::Cubed), -0.125);
        let sigmoid = |t: f64| 1.0 / (1.0 + (-t).exp());
        for z in [-4.0f32, -0.5, 0.0, 0.5, 4.0] {
            let expected = sigmoid(3.0 * f64::from(z)).ln();
            assert!((f64::from(Scoring::LogSigmoid.step(z)) - expected).abs() < 1e-6);
        }
        assert_eq!(Scoring::Squared.step(7.0), 0.0);
        assert_eq!(Scoring::Cubed.neutral(), (-1.0f32).exp());
        assert!((Scoring::LogSigmoid.neutral() - 0.5).abs() < 1e-7);
    }

    #[test]
    fn the_largest_margins_give_no_nan() {
        for s in Scoring::ALL {
            for z in [f32::MAX, f32::MIN] {
                assert!(!s.score(s.step(z)).is_nan(), "{s:?} {z}");
            }
        }
    }

    #[test]
    fn names_lead_back() {
        for s in Scoring::ALL {
            assert_eq!(Scoring::from_name(s.name()).unwrap(), s);
        }
        let e = Scoring::from_name("cosine").unwrap_err().to_string();
        assert!(e.contains("log_sigmoid") && e.contains("cosine"), "{e}");
    }
}
