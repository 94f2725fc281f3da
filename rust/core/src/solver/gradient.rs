//! The loss's gradient at a look at the gap: of all features, or where few rows
//! count, of those that these rows hold.

#[cfg(test)]
mod looks;
mod screen;

pub(super) use screen::split;

use super::Design;
use super::scatter::{scatter, scatter_listed};
use crate::parallel::Control;

/// Features that share one entry of [`Gradient::peaks`].
const PEAK_WIDTH: usize = 64;

/// Features are listed where the rows hold fewer values than this share of them:
/// a value that may list a feature costs as much as several features in a row.
const LISTED_SHARE: usize = 4;

/// `factor` times the column sums plus the rows added up.
///
/// Most features of a rare label are in no row that counts: theirs is `factor` times
/// the column sum, which is left unwritten. Both ways give the same bits.
#[derive(Debug)]
pub(super) struct Gradient {
    /// Of all features, or valid for those listed alone.
    values: Vec<f64>,
    /// `factor`, where features are listed.
    of_others: Option<f64>,
    /// Features that the rows hold, as they were met, and flags of them.
    listed: Vec<u32>,
    is_listed: Vec<bool>,
    /// Largest absolute value block by block, where no features are listed.
    peaks: Vec<f64>,
    /// Derivatives that are not exact are below this in absolute value, and so is
    /// what stands for them. 0: all are exact.
    closed_below: f64,
    /// Scratch: columns to be added up.
    open: Vec<u32>,
}

impl Gradient {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            values: vec![0.0; n_features],
            of_others: None,
            listed: Vec::new(),
            is_listed: vec![false; n_features],
            peaks: Vec::new(),
            closed_below: 0.0,
            open: Vec::new(),
        }
    }

    /// Of all features, where [`Self::set`] was asked for all.
    pub(super) fn all(&self) -> &[f64] {
        &self.values
    }

    /// The same to be written, in any case; peaks stay as they were.
    pub(super) fn all_mut(&mut self) -> &mut [f64] {
        self.unlist();
        &mut self.values
    }

    fn unlist(&mut self) {
        for &j in &self.listed {
            self.is_listed[j as usize] = false;
        }
        self.listed.clear();
        self.of_others = None;
        self.closed_below = 0.0;
    }

    /// `factor column_sum + sum 2 residual x_i` for the `(i, residual)` of `list`.
    ///
    /// Cost: the stored values of these rows, and where they are many, one pass over
    /// the features, so that all are valid. `all` asks for that in any case.
    pub(super) fn set(
        &mut self,
        design: &Design<'_>,
        factor: f64,
        list: &[(u32, f64)],
        all: bool,
        control: &Control,
    ) {
        self.add_large(design, factor, list, all, control);
        if self.of_others.is_none() {
            self.find_peaks();
        }
    }

    /// [`Self::set`] without peaks.
    fn add_large(
        &mut self,
        design: &Design<'_>,
        factor: f64,
        list: &[(u32, f64)],
        all: bool,
        control: &Control,
    ) {
        self.unlist();
        if all || !self.is_short(design, list) {
            for (g, sum) in self.values.iter_mut().zip(design.column_sum()) {
                *g = factor * sum;
            }
            scatter(design.rows(), list, &mut self.values, control);
            return;
        }
        self.of_others = Some(factor);
        let Self {
            values,
            listed,
            is_listed,
            ..
        } = self;
        scatter_listed(design, factor, list, (values, listed, is_listed), control);
    }

    /// Whether the rows of `list` hold few values for so many features.
    fn is_short(&self, design: &Design<'_>, list: &[(u32, f64)]) -> bool {
        let most = self.values.len() / LISTED_SHARE;
        let mut n_values = 0;
        list.len() <= most
            && list.iter().all(|&(i, _)| {
                n_values += design.rows().row(i as usize).0.len();
                n_values <= most
            })
    }

    /// Largest `|gradient|` within each [`PEAK_WIDTH`] features.
    fn find_peaks(&mut self) {
        self.peaks.clear();
        self.peaks
            .extend(self.values.chunks(PEAK_WIDTH).map(|chunk| {
                // Several maxima side by side: one alone waits for itself.
                let mut largest = [0.0_f64; 8];
                let (eights, rest) = chunk.as_chunks::<8>();
                for eight in eights {
                    for (m, g) in largest.iter_mut().zip(eight) {
                        *m = if g.abs() > *m { g.abs() } else { *m };
                    }
                }
                let of_rest = rest.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
                largest.iter().fold(of_rest, |a, &b| a.max(b))
            }));
    }

    fn is_listed(&self, j: u32) -> bool {
        self.is_listed[j as usize]
    }

    /// The derivative by feature `j`.
    pub(super) fn at(&self, design: &Design<'_>, j: u32) -> f64 {
        match self.of_others {
            Some(factor) if !self.is_listed(j) => factor * design.column_sum()[j as usize],
            _ => self.values[j as usize],
        }
    }

    /// Count the derivative by feature `j` as 0 from now on.
    pub(super) fn forget(&mut self, j: u32) {
        self.values[j as usize] = 0.0;
        if self.of_others.is_some() && !std::mem::replace(&mut self.is_listed[j as usize], true) {
            self.listed.push(j);
        }
    }

    /// The largest absolute value; of derivatives that are not exact, what bounds them.
    pub(super) fn largest(&self, design: &Design<'_>) -> f64 {
        let Some(factor) = self.of_others else {
            return self.peaks.iter().fold(self.closed_below, |a, &b| a.max(b));
        };
        let of_listed = self.listed.iter().map(|&j| self.values[j as usize].abs());
        let of_listed = of_listed.fold(0.0, f64::max);
        // The first that is not listed exceeds all others.
        let others = design.steep_columns().iter();
        let first = others.copied().find(|&j| !self.is_listed(j));
        let of_others = first.map_or(0.0, |j| (factor * design.column_sum()[j as usize]).abs());
        of_listed.max(of_others).max(self.closed_below)
    }

    /// Call `take` with every feature whose derivative exceeds `limit` in absolute
    /// value, in any order but always the same.
    pub(super) fn for_each_above(
        &self,
        design: &Design<'_>,
        limit: f64,
        mut take: impl FnMut(u32),
    ) {
        let Some(factor) = self.of_others else {
            let blocks = self.values.chunks(PEAK_WIDTH).zip(&self.peaks);
            for (block, (values, _)) in (0..).zip(blocks).filter(|(_, (_, peak))| **peak > limit) {
                for (j, g) in (block * PEAK_WIDTH as u32..).zip(values) {
                    if g.abs() > limit {
                        take(j);
                    }
                }
            }
            return;
        };
        for &j in &self.listed {
            if self.values[j as usize].abs() > limit {
                take(j);
            }
        }
        for &j in design.steep_columns() {
            if (factor * design.column_sum()[j as usize]).abs() <= limit {
                break;
            }
            if !self.is_listed(j) {
                take(j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::{CsrMatrix, Pattern};

    const N_ROWS: u32 = 40;
    const N_FEATURES: usize = 700;

    /// Row i holds five features: one that all rows share, one of a few rows, whose
    /// sum is negative, and three nearly its own. Feature 699 is in no row.
    fn rows(scale: f32) -> CsrMatrix {
        let (mut indptr, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
        for i in 0..N_ROWS {
            indices.extend([3, 10 + i % 7, 64 + 5 * i, 300 + 7 * i, 650 + i % 40]);
            let value = scale * (1.0 + i as f32);
            data.extend([scale, -value, 0.5 * value, -0.25 * value, value]);
            indptr.push(indices.len() as u64);
        }
        let pattern = Pattern {
            n_cols: N_FEATURES,
            indptr,
            indices,
        };
        CsrMatrix { pattern, data }
    }

    /// `factor column_sum + sum 2 residual x_i`, from dense rows.
    fn dense(x: &CsrMatrix, factor: f64, list: &[(u32, f64)]) -> Vec<f64> {
        let mut all = vec![0.0; N_FEATURES];
        let mut add = |i: u32, times: f64| {
            let (ids, values) = x.view().row(i as usize);
            for (&j, &v) in ids.iter().zip(values) {
                all[j as usize] += times * f64::from(v);
            }
        };
        for i in 0..N_ROWS {
            add(i, factor);
        }
        for &(i, residual) in list {
            add(i, 2.0 * residual);
        }
        all
    }

    fn above(gradient: &Gradient, design: &Design<'_>, limit: f64) -> Vec<u32> {
        let mut found = Vec::new();
        gradient.for_each_above(design, limit, |j| found.push(j));
        found.sort_unstable();
        found
    }

    /// Both ways of one gradient, used again and again, against dense rows.
    fn check(scale: f32) {
        let x = rows(scale);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let (mut short, mut long) = (Gradient::new(N_FEATURES), Gradient::new(N_FEATURES));
        let unit = f64::from(scale);
        let lists: [&[(u32, f64)]; 4] = [
            &[(7, -2.0), (30, 0.75), (0, 1e-3)],
            &[(39, 1.0)],
            &[],
            &[(39, -3.0), (38, 2.0), (37, 0.5), (6, 1.0), (5, 1.0)],
        ];
        for (list, factor) in lists.into_iter().zip([0.125, 4.0, 0.5, 0.0]) {
            short.set(&design, factor, list, false, &control);
            long.set(&design, factor, list, true, &control);
            assert_eq!((short.of_others, long.of_others), (Some(factor), None));
            let expected = dense(&x, factor, list);
            let largest = expected.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
            assert!((short.largest(&design) - largest).abs() <= 1e-12 * largest);
            assert_eq!(short.largest(&design), long.largest(&design));
            for (j, g) in (0..).zip(&expected) {
                let (a, b) = (short.at(&design, j), long.at(&design, j));
                assert_eq!(a.to_bits(), b.to_bits(), "{j}");
                assert!((a - g).abs() <= 1e-12 * largest, "{j}: {a}, not {g}");
            }
            // Between two values of the lists, never on one.
            for limit in [0.013, 0.61, 7.03, 45.1].map(|l| l * unit) {
                let over = (0..).zip(&expected).filter(|(_, g)| g.abs() > limit);
                let over: Vec<u32> = over.map(|(j, _)| j).collect();
                assert_eq!(above(&short, &design, limit), over);
                assert_eq!(above(&long, &design, limit), over);
            }
        }
    }

    #[test]
    fn listed_features_and_all_others_are_as_in_a_dense_product() {
        check(1.0);
    }

    #[test]
    fn huge_values_lose_no_feature() {
        check(1e13);
    }

    #[test]
    fn many_values_are_added_up_for_all_features() {
        let x = rows(1.0);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let mut gradient = Gradient::new(N_FEATURES);
        // Five values a row, 700 / 4 features.
        for (n, is_short) in [(35, true), (36, false), (40, false)] {
            let list: Vec<_> = (0..n).map(|i| (i, 1.0)).collect();
            gradient.set(&design, 1.0, &list, false, &control);
            assert_eq!(gradient.of_others.is_some(), is_short, "{n}");
            assert_eq!(gradient.at(&design, 3), 40.0 + 2.0 * f64::from(n));
        }
    }

    #[test]
    fn values_written_for_all_features_are_read_as_such() {
        let x = rows(1.0);
        let control = Control::default();
        let design = Design::new(x.view(), None, &control).unwrap();
        let mut gradient = Gradient::new(N_FEATURES);
        gradient.set(&design, 1.0, &[(3, 1.0)], false, &control);
        gradient.all_mut().fill(0.25);
        assert!((0..N_FEATURES as u32).all(|j| gradient.at(&design, j) == 0.25));
    }
}
