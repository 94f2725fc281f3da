//! Seeded data that look like text: a few frequent features, many rare ones.

#![allow(
    dead_code,
    reason = "each bench has a copy of this module and uses a part of it"
)]

use proxtree_core::sparse::{CsrMatrix, Pattern};

pub(crate) mod problems;

/// A small linear congruential generator: enough for data, the same everywhere.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Sorted unique features; feature `j` about as often as 1 / (j + 1).
    pub(crate) fn features(&mut self, n_features: usize, n: usize) -> Vec<u32> {
        let mut ids: Vec<u32> = (0..n)
            .map(|_| (n_features as f64).powf(self.unit()) as u32 - 1)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Values in [0.1, 1.1).
    pub(crate) fn values(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.unit() as f32 + 0.1).collect()
    }

    /// Rows of about `per_row` features each.
    pub(crate) fn rows(&mut self, n_rows: usize, n_features: usize, per_row: usize) -> CsrMatrix {
        let mut x = CsrMatrix {
            pattern: Pattern {
                n_cols: n_features,
                indptr: vec![0],
                indices: Vec::new(),
            },
            data: Vec::new(),
        };
        for _ in 0..n_rows {
            let ids = self.features(n_features, per_row);
            x.data.extend(self.values(ids.len()));
            x.pattern.indices.extend(ids);
            x.pattern.indptr.push(x.data.len() as u64);
        }
        x
    }
}

/// Labels that a row's rare features stand for: most labels occur, at most a row's
/// number of features each.
pub(crate) fn labels(x: &CsrMatrix, n_labels: usize) -> Pattern {
    let mut y = Pattern {
        n_cols: n_labels,
        indptr: vec![0],
        indices: Vec::new(),
    };
    for i in 0..x.pattern.n_rows() {
        let ids = x.view().row(i).0.iter().map(|f| f % (n_labels as u32 + 1));
        let mut labels: Vec<u32> = ids.filter(|&l| l >= 50 && l < n_labels as u32).collect();
        labels.sort_unstable();
        labels.dedup();
        y.indices.extend(labels);
        y.indptr.push(y.indices.len() as u64);
    }
    y
}
