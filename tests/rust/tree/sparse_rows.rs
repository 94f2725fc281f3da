//! Sparse matrices from dense rows, and made-up label features.

use proxtree_core::sparse::{CsrMatrix, Pattern};

/// The CSR form of dense rows, zeros left out.
pub(crate) fn csr(rows: &[Vec<f32>]) -> CsrMatrix {
    let mut m = CsrMatrix {
        pattern: Pattern {
            n_cols: rows.first().map_or(0, Vec::len),
            indptr: vec![0],
            indices: Vec::new(),
        },
        data: Vec::new(),
    };
    for row in rows {
        for (j, &v) in row.iter().enumerate() {
            if v != 0.0 {
                m.pattern.indices.push(j as u32);
                m.data.push(v);
            }
        }
        m.pattern.indptr.push(m.data.len() as u64);
    }
    m
}

/// A small linear congruential generator.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }

    /// `n` rows of unit length around `n_topics` directions, `n_features` wide.
    pub(crate) fn topics(&mut self, n: usize, n_features: usize, n_topics: u64) -> Vec<Vec<f32>> {
        (0..n)
            .map(|_| {
                let topic = self.below(n_topics) as usize;
                let mut row = vec![0.0f32; n_features];
                for _ in 0..6 {
                    let near = (topic * 7 + self.below(9) as usize) % n_features;
                    row[near] += 1.0 + self.below(100) as f32 / 50.0;
                    let anywhere = self.below(n_features as u64) as usize;
                    row[anywhere] += self.below(100) as f32 / 100.0;
                }
                let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
                row.iter().map(|v| v / norm).collect()
            })
            .collect()
    }
}
