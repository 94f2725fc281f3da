//! A problem on few of its rows.

use super::node::{Extractor, NodeData};
use super::problems::{Hands, SolvedNode, solve_node};
use super::{ClassWeight, Job, Recipe};
use crate::Result;
use crate::solver::{Design, Settings};

/// Positives that are kept at most.
const MOST: usize = 300;
/// Negatives that are kept: for each positive that is, and at least.
const FOR_EACH: usize = 3;
const LEAST: usize = 100;

impl Job<'_> {
    /// Solve a child's problem on the rows of [`thin`], where each that is kept
    /// stands for as many of its class as there are for each.
    ///
    /// How many weights it gets says how many the whole problem will have, for a
    /// small part of its time. `weights` holds the samples' weights, and does so
    /// afterwards.
    pub(super) fn solve_thinned(
        &self,
        node: usize,
        positives: &[u32],
        extractor: &mut Extractor,
        weights: &mut [f64],
    ) -> Result<SolvedNode> {
        let all: Vec<u32>;
        let rows = if self.is_whole(node) {
            all = (0..self.x.n_rows() as u32).collect();
            &all
        } else {
            &self.rows[node]
        };
        let kept = thin(rows, positives);
        let before: Vec<f64> = kept.rows.iter().map(|&i| weights[i as usize]).collect();
        let mut positive = kept.positives.iter().peekable();
        for &i in &kept.rows {
            let is_positive = positive.next_if_eq(&&i).is_some();
            weights[i as usize] *= kept.scales[usize::from(is_positive)];
        }
        let NodeData {
            x,
            feature_ids,
            positives: own,
            sample_weight,
        } = extractor.extract(
            self.x,
            Some(weights),
            &kept.rows,
            [kept.positives.as_slice()].into_iter(),
        );
        for (&i, &weight) in kept.rows.iter().zip(&before) {
            weights[i as usize] = weight;
        }
        let design = Design::new(x.view(), sample_weight.as_deref(), self.control)?;
        // As among all rows.
        let n = positives.len() as f64;
        let (positive, negative) = self.recipe.class_weights(n, rows.len() as f64);
        let recipe = Recipe {
            alpha: self.recipe.alpha_of(n),
            alpha_exponent: 0.0,
            class_weight: ClassWeight::Fixed(positive, negative),
            propensity_weight: 0.0,
            ..*self.recipe
        };
        let settings = Settings {
            method: self.settings.method.for_unit(node as u64),
            ..*self.settings
        };
        solve_node(
            &design,
            Some(&feature_ids),
            own.view(),
            &recipe,
            &settings,
            Hands::One,
            self.control,
        )
    }
}

#[derive(Debug, PartialEq)]
struct Thinned {
    rows: Vec<u32>,
    positives: Vec<u32>,
    /// Negatives and positives there are for each that is kept.
    scales: [f64; 2],
}

/// Evenly spaced `positives` and others among `rows`; all are sorted.
fn thin(rows: &[u32], positives: &[u32]) -> Thinned {
    let n_kept = positives.len().min(MOST);
    let others = rows.len() - positives.len();
    let mut lines = [
        Line::new(others, others.min(LEAST.max(FOR_EACH * n_kept))),
        Line::new(positives.len(), n_kept),
    ];
    let scales = lines.each_ref().map(Line::scale);
    let mut kept = Thinned {
        rows: Vec::with_capacity(lines[0].kept + lines[1].kept),
        positives: Vec::with_capacity(n_kept),
        scales,
    };
    let mut positives = positives.iter().peekable();
    for &i in rows {
        let is_positive = positives.next_if_eq(&&i).is_some();
        if lines[usize::from(is_positive)].keeps_next() {
            kept.rows.push(i);
            if is_positive {
                kept.positives.push(i);
            }
        }
    }
    kept
}

/// Keeps so many of all, evenly spaced, as Bresenham draws a line.
struct Line {
    all: usize,
    kept: usize,
    passed: usize,
}

impl Line {
    fn new(all: usize, kept: usize) -> Self {
        Self {
            all,
            kept,
            passed: all / 2,
        }
    }

    fn scale(&self) -> f64 {
        self.all as f64 / self.kept.max(1) as f64
    }

    fn keeps_next(&mut self) -> bool {
        self.passed += self.kept;
        let keeps = self.passed >= self.all;
        if keeps {
            self.passed -= self.all;
        }
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_kept_as_they_are() {
        let rows = vec![1, 3, 4, 8, 9];
        let kept = thin(&rows, &[3, 9]);
        assert_eq!(kept.rows, rows);
        assert_eq!((kept.positives, kept.scales), (vec![3, 9], [1.0, 1.0]));
        assert_eq!(thin(&rows, &rows).rows, rows);
    }

    #[test]
    fn both_classes_are_thinned_evenly() {
        let rows: Vec<u32> = (0..6000).collect();
        // Every fourth, 1500, of which every fifth is kept; every fifth of the others.
        let positives: Vec<u32> = (0..1500).map(|i| 4 * i).collect();
        let kept = thin(&rows, &positives);
        assert_eq!((kept.positives.len(), kept.rows.len()), (300, 1200));
        assert_eq!(kept.scales, [5.0, 5.0]);
        assert!(kept.positives.windows(2).all(|p| p[1] - p[0] == 20));
        let others: Vec<u32> = kept.rows.into_iter().filter(|i| i % 4 != 0).collect();
        assert!(others.windows(2).all(|o| (6..=7).contains(&(o[1] - o[0]))));
        // With fewer positives, LEAST others.
        let kept = thin(&rows, &positives[..20]);
        assert_eq!((kept.positives.len(), kept.rows.len()), (20, 120));
        assert_eq!(kept.scales, [59.8, 1.0]);
    }
}
