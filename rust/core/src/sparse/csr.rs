//! CSR matrices and 0/1 patterns, owned and borrowed.

use crate::{Error, Result};

/// A borrowed 0/1 matrix in CSR form: column ids sorted and unique in a row.
#[derive(Clone, Copy, Debug)]
pub struct PatternView<'a> {
    n_rows: usize,
    n_cols: usize,
    indptr: &'a [u64],
    indices: &'a [u32],
}

/// A borrowed CSR matrix of finite `f32`: sorted, unique column ids in a row.
#[derive(Clone, Copy, Debug)]
pub struct CsrView<'a> {
    pattern: PatternView<'a>,
    data: &'a [f32],
}

/// An owned 0/1 matrix in CSR form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Number of columns.
    pub n_cols: usize,
    /// Row pointers, `n_rows + 1` of them.
    pub indptr: Vec<u64>,
    /// Column ids.
    pub indices: Vec<u32>,
}

/// An owned CSR matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsrMatrix {
    /// Where the stored values stand.
    pub pattern: Pattern,
    /// The stored values.
    pub data: Vec<f32>,
}

impl<'a> PatternView<'a> {
    /// Check the three parts against each other and borrow them.
    ///
    /// Cost: one pass over the indices.
    ///
    /// # Errors
    /// [`Error::Data`] where lengths disagree, row pointers fall, a column id
    /// is out of range, or a row is unsorted or repeats a column.
    pub fn new(
        n_rows: usize,
        n_cols: usize,
        indptr: &'a [u64],
        indices: &'a [u32],
    ) -> Result<Self> {
        if indptr.len() != n_rows + 1 {
            return Err(Error::data(format!(
                "indptr has {} entries, expected n_rows + 1 = {}",
                indptr.len(),
                n_rows + 1
            )));
        }
        if indptr[0] != 0 || indptr[n_rows] != indices.len() as u64 {
            return Err(Error::data(format!(
                "indptr must run from 0 to the number of stored values {}, it runs from {} to {}",
                indices.len(),
                indptr[0],
                indptr[n_rows]
            )));
        }
        if let Some(row) = indptr.windows(2).position(|w| w[0] > w[1]) {
            return Err(Error::data(format!("indptr decreases after row {row}")));
        }
        for (row, w) in indptr.windows(2).enumerate() {
            let columns = &indices[w[0] as usize..w[1] as usize];
            // Sorted columns are in range when the last one is.
            if columns.windows(2).any(|c| c[0] >= c[1]) {
                return Err(Error::data(format!(
                    "row {row}: column ids must be sorted and without duplicates"
                )));
            }
            if let Some(&last) = columns.last()
                && last as usize >= n_cols
            {
                return Err(Error::data(format!(
                    "row {row}: column id {last} is outside [0, {n_cols})"
                )));
            }
        }
        Ok(Self {
            n_rows,
            n_cols,
            indptr,
            indices,
        })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Number of stored values.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// Row pointers.
    pub fn indptr(&self) -> &'a [u64] {
        self.indptr
    }

    /// All column ids, row after row.
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// Column ids of one row.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [u32] {
        &self.indices[self.indptr[i] as usize..self.indptr[i + 1] as usize]
    }
}

impl<'a> CsrView<'a> {
    /// Check the parts and borrow them.
    ///
    /// # Errors
    /// As [`PatternView::new`]; also where a value is missing or not finite.
    pub fn new(
        n_rows: usize,
        n_cols: usize,
        indptr: &'a [u64],
        indices: &'a [u32],
        data: &'a [f32],
    ) -> Result<Self> {
        let pattern = PatternView::new(n_rows, n_cols, indptr, indices)?;
        if data.len() != indices.len() {
            return Err(Error::data(format!(
                "{} values for {} column ids",
                data.len(),
                indices.len()
            )));
        }
        if let Some(at) = data.iter().position(|v| !v.is_finite()) {
            let row = indptr.partition_point(|&p| p <= at as u64) - 1;
            return Err(Error::data(format!(
                "row {row}, column {}: value {} is not finite",
                indices[at], data[at]
            )));
        }
        Ok(Self { pattern, data })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.pattern.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.pattern.n_cols
    }

    /// Number of stored values.
    pub fn nnz(&self) -> usize {
        self.data.len()
    }

    /// Where the values stand.
    pub fn pattern(&self) -> PatternView<'a> {
        self.pattern
    }

    /// All values, row after row.
    pub fn data(&self) -> &'a [f32] {
        self.data
    }

    /// Column ids and values of one row.
    #[inline]
    pub fn row(&self, i: usize) -> (&'a [u32], &'a [f32]) {
        let (start, end) = (
            self.pattern.indptr[i] as usize,
            self.pattern.indptr[i + 1] as usize,
        );
        (&self.pattern.indices[start..end], &self.data[start..end])
    }
}

impl Pattern {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }

    /// Borrow without checking again: the parts were built by this crate.
    pub fn view(&self) -> PatternView<'_> {
        PatternView {
            n_rows: self.n_rows(),
            n_cols: self.n_cols,
            indptr: &self.indptr,
            indices: &self.indices,
        }
    }
}

impl CsrMatrix {
    /// Borrow without checking again: the parts were built by this crate.
    pub fn view(&self) -> CsrView<'_> {
        CsrView {
            pattern: self.pattern.view(),
            data: &self.data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sound_matrix_is_read_by_rows() {
        let m = CsrView::new(2, 3, &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(m.row(0), (&[0u32, 2][..], &[1.0f32, 2.0][..]));
        assert_eq!(m.row(1), (&[1u32][..], &[3.0f32][..]));
    }

    #[test]
    fn each_broken_part_is_named() {
        type Broken<'a> = (&'a [u64], &'a [u32], &'a [f32], &'a str);
        let broken: [Broken<'_>; 7] = [
            (&[0, 2], &[0, 2, 1], &[1.0; 3], "indptr has 2 entries"),
            (&[0, 2, 4], &[0, 2, 1], &[1.0; 3], "indptr must run"),
            (
                &[0, 4, 3],
                &[0, 2, 1],
                &[1.0; 3],
                "indptr decreases after row 1",
            ),
            (
                &[0, 2, 3],
                &[2, 0, 1],
                &[1.0; 3],
                "row 0: column ids must be sorted",
            ),
            (&[0, 2, 3], &[0, 3, 1], &[1.0; 3], "row 0: column id 3"),
            (&[0, 2, 3], &[0, 2, 1], &[1.0; 2], "2 values for 3"),
            (
                &[0, 2, 3],
                &[0, 2, 1],
                &[1.0, 1.0, f32::NAN],
                "row 1, column 1: value NaN",
            ),
        ];
        for (indptr, indices, data, message) in broken {
            let e = CsrView::new(2, 3, indptr, indices, data).unwrap_err();
            assert!(e.to_string().contains(message), "{e} / {message}");
        }
    }
}
