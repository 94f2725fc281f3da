//! The rows that one node clusters, with ids of its own for its features.

use crate::sparse::CsrView;

/// Sparse rows over the features that occur in them.
///
/// Features are renumbered by how many rows hold them, most frequent first:
/// tables over them are as small as the node, and the rows of a table that are
/// read most lie together. Entries keep the order of the original features,
/// which fixes the order of all sums.
#[derive(Debug, Default)]
pub(crate) struct Points {
    n_features: usize,
    indptr: Vec<usize>,
    ids: Vec<u32>,
    values: Vec<f32>,
}

impl Points {
    /// Rows `rows` of `x`.
    pub(crate) fn from_rows(x: CsrView<'_>, rows: &[u32]) -> Self {
        Self::gather(
            rows.len(),
            |i| x.row(rows[i] as usize),
            &mut vec![0; x.n_cols()],
        )
    }

    /// Rows `rows` of these, with fewer features.
    pub(crate) fn subset(&self, rows: &[u32]) -> Self {
        self.subset_with(rows, &mut vec![0; self.n_features])
    }

    /// As [`Self::subset`]; `counts` holds `n_features` zeros before and after.
    pub(crate) fn subset_with(&self, rows: &[u32], counts: &mut [u32]) -> Self {
        Self::gather(rows.len(), |i| self.row(rows[i] as usize), counts)
    }

    fn gather<'a>(
        n: usize,
        row: impl Fn(usize) -> (&'a [u32], &'a [f32]),
        counts: &mut [u32],
    ) -> Self {
        let mut indptr = Vec::with_capacity(n + 1);
        indptr.push(0);
        let mut used = Vec::new();
        let mut nnz = 0;
        for i in 0..n {
            let (ids, _) = row(i);
            nnz += ids.len();
            indptr.push(nnz);
            for &f in ids {
                let count = &mut counts[f as usize];
                if *count == 0 {
                    used.push(f);
                }
                *count += 1;
            }
        }
        used.sort_unstable_by_key(|&f| (std::cmp::Reverse(counts[f as usize]), f));
        // From here on the counts are the new ids.
        for (id, &f) in used.iter().enumerate() {
            counts[f as usize] = id as u32;
        }
        let mut new_ids = Vec::with_capacity(nnz);
        let mut values = Vec::with_capacity(nnz);
        for i in 0..n {
            let (ids, row_values) = row(i);
            new_ids.extend(ids.iter().map(|&f| counts[f as usize]));
            values.extend_from_slice(row_values);
        }
        for &f in &used {
            counts[f as usize] = 0;
        }
        Self {
            n_features: used.len(),
            indptr,
            ids: new_ids,
            values,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.indptr.len() - 1
    }

    pub(crate) fn n_features(&self) -> usize {
        self.n_features
    }

    #[inline]
    pub(crate) fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let at = self.indptr[i]..self.indptr[i + 1];
        (&self.ids[at.clone()], &self.values[at])
    }

    /// `||x_i||^2`, in float64.
    pub(crate) fn squared_norm(&self, i: usize) -> f64 {
        self.row(i).1.iter().map(|&v| f64::from(v).powi(2)).sum()
    }

    /// Mean over the features of their variances over the rows.
    pub(crate) fn mean_variance(&self) -> f64 {
        let n = self.len() as f64;
        let mut sums = vec![0.0; self.n_features];
        let mut squares = 0.0;
        for (&f, &v) in self.ids.iter().zip(&self.values) {
            let v = f64::from(v);
            sums[f as usize] += v;
            squares += v * v;
        }
        let of_means: f64 = sums.iter().map(|s| (s / n).powi(2)).sum();
        (squares / n - of_means) / self.n_features.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_renumbered_by_frequency() {
        let x = CsrView::new(
            3,
            6,
            &[0, 2, 4, 6],
            &[1, 5, 1, 3, 3, 5],
            &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        )
        .unwrap();
        let points = Points::from_rows(x, &[2, 1]);
        // Feature 3 occurs twice, 1 and 5 once.
        assert_eq!(points.n_features(), 3);
        assert_eq!(points.row(0), (&[0u32, 2][..], &[5.0f32, 6.0][..]));
        assert_eq!(points.row(1), (&[1u32, 0][..], &[3.0f32, 4.0][..]));
        let one = points.subset(&[0]);
        assert_eq!((one.len(), one.n_features()), (1, 2));
        assert_eq!(one.row(0), (&[0u32, 1][..], &[5.0f32, 6.0][..]));
    }

    #[test]
    fn variance_is_that_of_dense_columns() {
        let x = CsrView::new(2, 2, &[0, 2, 3], &[0, 1, 1], &[2.0, 1.0, 5.0]).unwrap();
        // Column variances: (2, 0) -> 1; (1, 5) -> 4.
        let points = Points::from_rows(x, &[0, 1]);
        assert!((points.mean_variance() - 2.5).abs() < 1e-12);
    }
}
