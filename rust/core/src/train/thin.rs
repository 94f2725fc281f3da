//! A problem on all of its positives and few of its negatives.

use super::node::{Extractor, NodeData};
use super::problems::{Hands, SolvedNode, solve_node};
use super::{ClassWeight, Job, Recipe};
use crate::Result;
use crate::solver::{Design, Settings};

/// Negatives that are kept: as many as positives, and at least so many.
const LEAST: u64 = 100;

impl Job<'_> {
    /// Solve a child's problem on the rows of [`thinned_rows`], where each negative
    /// that is kept stands for as many as there are for each.
    ///
    /// The weights it gets are nearly as many as the whole problem's, for a fraction
    /// of its time. `weights` holds the samples' weights, and does so afterwards.
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
        let (kept, scale) = thinned_rows(rows, positives);
        let weigh = |weights: &mut [f64], by: f64| {
            let mut positives = positives.iter().peekable();
            for &i in &kept {
                if positives.next_if_eq(&&i).is_none() {
                    weights[i as usize] *= by;
                }
            }
        };
        let before: Vec<f64> = kept.iter().map(|&i| weights[i as usize]).collect();
        weigh(weights, scale);
        let NodeData {
            x,
            feature_ids,
            positives: own,
            sample_weight,
        } = extractor.extract(self.x, Some(weights), &kept, [positives].into_iter());
        for (&i, &weight) in kept.iter().zip(&before) {
            weights[i as usize] = weight;
        }
        let design = Design::new(x.view(), sample_weight.as_deref(), self.control)?;
        // Classes weigh what they do among all rows.
        let (positive, negative) = self
            .recipe
            .class_weights(positives.len() as f64, rows.len() as f64);
        let recipe = Recipe {
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

/// All `positives` among `rows`, both sorted, and evenly spaced ones of the others;
/// with how many others there are for each that is kept.
fn thinned_rows(rows: &[u32], positives: &[u32]) -> (Vec<u32>, f64) {
    let others = (rows.len() - positives.len()) as u64;
    let n_kept = others.min(LEAST.max(positives.len() as u64));
    let mut kept = Vec::with_capacity(positives.len() + n_kept as usize);
    let mut positives = positives.iter().peekable();
    // Bresenham's line: others * (kept so far) = n_kept * (seen so far), rounded.
    let mut passed = others / 2;
    for &i in rows {
        if positives.next_if_eq(&&i).is_some() {
            kept.push(i);
            continue;
        }
        passed += n_kept;
        if passed >= others {
            passed -= others;
            kept.push(i);
        }
    }
    (kept, others as f64 / n_kept.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rows_are_kept_as_they_are() {
        let rows = [1, 3, 4, 8, 9];
        assert_eq!(thinned_rows(&rows, &[3, 9]), (rows.to_vec(), 1.0));
        assert_eq!(thinned_rows(&rows, &rows), (rows.to_vec(), 0.0));
    }

    #[test]
    fn negatives_are_thinned_evenly_and_positives_are_all_kept() {
        let rows: Vec<u32> = (0..1200).map(|i| 2 * i).collect();
        let positives: Vec<u32> = (0..200).map(|i| 12 * i).collect();
        // 1000 others, of which 200 are kept: every fifth.
        let (kept, scale) = thinned_rows(&rows, &positives);
        assert_eq!((kept.len(), scale), (400, 5.0));
        let others: Vec<u32> = kept.iter().copied().filter(|i| i % 12 != 0).collect();
        assert_eq!(others.len(), 200);
        assert!(others.windows(2).all(|pair| pair[1] - pair[0] == 12));
        // With fewer positives, LEAST of them.
        let (kept, scale) = thinned_rows(&rows, &positives[..50]);
        assert_eq!((kept.len(), scale), (150, 11.5));
    }
}
