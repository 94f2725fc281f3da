//! Rows of unit length.

use super::{CsrMatrix, CsrView, Pattern};

/// The rows of `x` divided by their Euclidean norms; zero rows stay.
///
/// Norms are `f64` sums in column order and the quotients are rounded once, so
/// training and prediction see the same bits. Cost: two passes over the values.
pub fn normalize_rows(x: CsrView<'_>) -> CsrMatrix {
    let mut data = Vec::with_capacity(x.nnz());
    for i in 0..x.n_rows() {
        append_normalized(x.row(i).1, &mut data);
    }
    let pattern = Pattern {
        n_cols: x.n_cols(),
        indptr: x.pattern().indptr().to_vec(),
        indices: x.pattern().indices().to_vec(),
    };
    CsrMatrix { pattern, data }
}

/// Append one row's values, divided by their norm, to `out`.
pub fn append_normalized(values: &[f32], out: &mut Vec<f32>) {
    let norm = values
        .iter()
        .fold(0.0, |sum, &v| sum + f64::from(v) * f64::from(v))
        .sqrt();
    if norm > 0.0 {
        out.extend(values.iter().map(|&v| (f64::from(v) / norm) as f32));
    } else {
        out.extend_from_slice(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_get_unit_length_and_zero_rows_stay() {
        let x = CsrView::new(
            4,
            3,
            &[0, 2, 2, 3, 5],
            &[0, 2, 1, 0, 1],
            &[3.0, -4.0, 0.0, 1e-40, 0.0],
        )
        .unwrap();
        let unit = normalize_rows(x);
        assert_eq!(unit.pattern.view().indices(), x.pattern().indices());
        assert_eq!(unit.data, [0.6, -0.8, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let x = CsrView::new(1, 2, &[0, 2], &[0, 1], &[f32::MAX, f32::MAX]).unwrap();
        let half = 0.5f64.sqrt() as f32;
        assert_eq!(normalize_rows(x).data, [half, half]);
    }
}
