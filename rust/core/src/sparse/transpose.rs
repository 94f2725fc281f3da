//! CSR to CSC by counting sort.

use super::{CsrMatrix, CsrView, Pattern, PatternView};
use crate::Result;
use crate::parallel::Control;

/// Rows between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 1 << 14;

/// The transpose of `x`, itself in CSR form (so the CSC form of `x`).
///
/// Row ids are sorted in each column. Cost: two passes over the values.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn transpose(x: CsrView<'_>, control: &Control) -> Result<CsrMatrix> {
    let mut data = vec![0.0; x.nnz()];
    let place = |from: usize, to: usize| data[to] = x.data()[from];
    let pattern = scatter(x.pattern(), control, place)?;
    Ok(CsrMatrix { pattern, data })
}

/// The transpose of a 0/1 matrix: for `Y`, the rows of each label.
///
/// # Errors
/// [`crate::Error::Cancelled`].
pub fn transpose_pattern(y: PatternView<'_>, control: &Control) -> Result<Pattern> {
    scatter(y, control, |_, _| {})
}

fn scatter(
    p: PatternView<'_>,
    control: &Control,
    mut place: impl FnMut(usize, usize),
) -> Result<Pattern> {
    let mut indptr = vec![0u64; p.n_cols() + 1];
    for &j in p.indices() {
        indptr[j as usize + 1] += 1;
    }
    for j in 0..p.n_cols() {
        indptr[j + 1] += indptr[j];
    }
    let mut next = indptr.clone();
    let mut indices = vec![0u32; p.nnz()];
    let mut from = 0;
    for i in 0..p.n_rows() {
        if i % ROWS_PER_CHECK == 0 {
            control.check()?;
        }
        for &j in p.row(i) {
            let to = next[j as usize] as usize;
            next[j as usize] += 1;
            indices[to] = i as u32;
            place(from, to);
            from += 1;
        }
    }
    Ok(Pattern {
        n_cols: p.n_rows(),
        indptr,
        indices,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twice_is_the_same_matrix() {
        let x = CsrMatrix {
            pattern: Pattern {
                n_cols: 3,
                indptr: vec![0, 2, 2, 4],
                indices: vec![0, 2, 1, 2],
            },
            data: vec![1.0, 2.0, 3.0, 4.0],
        };
        let control = Control::default();
        let t = transpose(x.view(), &control).unwrap();
        assert_eq!(t.pattern.indptr, [0, 1, 2, 4]);
        assert_eq!(t.pattern.indices, [0, 2, 0, 2]);
        assert_eq!(t.data, [1.0, 3.0, 2.0, 4.0]);
        assert_eq!(transpose(t.view(), &control).unwrap(), x);
    }
}
