//! What tests of several modules need.

use crate::sparse::{CsrMatrix, Pattern};

/// The matrix with these rows; zeros are not stored.
pub(crate) fn csr<const D: usize>(rows: &[[f32; D]]) -> CsrMatrix {
    let mut pattern = Pattern {
        n_cols: D,
        indptr: vec![0],
        indices: Vec::new(),
    };
    let mut data = Vec::new();
    for row in rows {
        for (j, &x) in (0..).zip(row) {
            if x != 0.0 {
                pattern.indices.push(j);
                data.push(x);
            }
        }
        pattern.indptr.push(data.len() as u64);
    }
    CsrMatrix { pattern, data }
}
