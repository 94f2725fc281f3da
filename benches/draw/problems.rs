//! Binary problems on drawn rows.

use proxtree_core::solver::{Design, Intercept, Method, Problem, Settings, Stop};

/// Rows of the feature whose count is nearest to `n`, and a stray one.
pub(crate) fn positives(design: &Design<'_>, n: usize) -> Vec<u32> {
    let feature = (0..design.n_features())
        .min_by_key(|&j| design.column(j).0.len().abs_diff(n))
        .unwrap_or(0);
    let mut positives = design.column(feature).0.to_vec();
    let first = positives.first().map_or(0, |&row| row as usize);
    positives.push(((first + 101) % design.n_samples()) as u32);
    positives.sort_unstable();
    positives.dedup();
    positives
}

/// alpha 1, a penalised intercept.
pub(crate) fn problem<'a>(design: &'a Design<'a>, positives: &'a [u32]) -> Problem<'a> {
    Problem {
        design,
        positives,
        alpha: 1.0,
        ridge: 0.0,
        class_weight: (1.0, 1.0),
        intercept: Intercept::Penalized(1.0),
    }
}

/// To a gap of 1e-3, with weights rounded to f32.
pub(crate) fn settings(method: Method) -> Settings {
    Settings {
        method,
        tol: 1e-3,
        max_iter: method.default_max_iter(),
        stop: Stop::Gap,
        prune: 0.0,
        round_weights: true,
        round_intercept: false,
        history: false,
    }
}
