//! The rows that a few features reach, compact: what Newton steps work on.

use super::state::{Row, Scaled, Workspace};

/// Rows that hold at least one of the chosen features, entries row by row.
///
/// Everything outside has margin 0 and so is two rows more, without entries: one
/// for all other negatives, one for all other positives. No step costs anything
/// per sample.
#[derive(Debug)]
pub(super) struct Support {
    /// The features, in the order of their coordinates.
    pub(super) features: Vec<u32>,
    /// Global row of each compact one; `NONE` for the two rows that stand for others.
    pub(super) row_ids: Vec<u32>,
    row_start: Vec<usize>,
    coordinates: Vec<u32>,
    values: Vec<f32>,
    pub(super) margin: Vec<f64>,
    pub(super) sign: Vec<f64>,
    pub(super) weight: Vec<f64>,
    /// Compact id of a global row, `NONE` between uses.
    pub(super) compact_of: Vec<u32>,
}

pub(super) const NONE: u32 = u32::MAX;

impl Support {
    pub(super) fn new(n_samples: usize) -> Self {
        Self {
            features: Vec::new(),
            row_ids: Vec::new(),
            row_start: Vec::new(),
            coordinates: Vec::new(),
            values: Vec::new(),
            margin: Vec::new(),
            sign: Vec::new(),
            weight: Vec::new(),
            compact_of: vec![NONE; n_samples],
        }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.margin.len()
    }

    /// Take all of `rows`, with the entries of the chosen columns.
    pub(super) fn fill<'a>(
        &mut self,
        rows: &[Row],
        chosen: &[u32],
        column: impl Fn(u32) -> (&'a [u32], &'a [f32]),
    ) {
        self.row_start.clear();
        self.row_start.resize(rows.len() + 1, 0);
        for &k in chosen {
            for &r in column(k).0 {
                self.row_start[r as usize + 1] += 1;
            }
        }
        let mut total = 0;
        for start in &mut self.row_start {
            total += *start;
            *start = total;
        }
        self.coordinates.resize(total, 0);
        self.values.resize(total, 0.0);
        // `row_start[r]` walks to the row's end and is set back after.
        for (k, &id) in (0..).zip(chosen) {
            let (ids, values) = column(id);
            for (&r, &x) in ids.iter().zip(values) {
                let next = &mut self.row_start[r as usize];
                self.coordinates[*next] = k;
                self.values[*next] = x;
                *next += 1;
            }
        }
        let last = self.row_start.len() - 1;
        self.row_start.copy_within(0..last, 1);
        self.row_start[0] = 0;
        self.margin.clear();
        self.margin.extend(rows.iter().map(|row| row.margin));
        self.sign.clear();
        self.sign.extend(rows.iter().map(Row::sign));
        self.weight.clear();
        self.weight.extend(rows.iter().map(Row::weight));
    }

    /// Coordinates and values of a compact row.
    #[inline]
    pub(super) fn row(&self, r: usize) -> (&[u32], &[f32]) {
        let (a, b) = (self.row_start[r], self.row_start[r + 1]);
        (&self.coordinates[a..b], &self.values[a..b])
    }
}

/// Gather the rows of all non-zero weights into `state.support`.
///
/// Cost: two passes over those columns.
pub(super) fn gather(problem: &Scaled<'_>, state: &mut Workspace) {
    let mut s = std::mem::replace(&mut state.support, Support::new(0));
    s.features.clear();
    s.features.extend(state.nonzero());
    s.row_ids.clear();
    s.row_start.clear();
    // First pass: count the entries of each row, shifted by one place.
    s.row_start.push(0);
    for &j in &s.features {
        for &i in problem.design.column(j as usize).0 {
            let slot = &mut s.compact_of[i as usize];
            if *slot == NONE {
                *slot = s.row_ids.len() as u32;
                s.row_ids.push(i);
                s.row_start.push(0);
            }
            s.row_start[*slot as usize + 1] += 1;
        }
    }
    let mut total = 0;
    for start in &mut s.row_start {
        total += *start;
        *start = total;
    }
    s.coordinates.clear();
    s.coordinates.resize(total, 0);
    s.values.clear();
    s.values.resize(total, 0.0);
    // Second pass: `row_start[r]` walks to the row's end and is set back after.
    for (k, &j) in s.features.iter().enumerate() {
        let (ids, values) = problem.design.column(j as usize);
        for (&i, &x) in ids.iter().zip(values) {
            let next = &mut s.row_start[s.compact_of[i as usize] as usize];
            s.coordinates[*next] = k as u32;
            s.values[*next] = x;
            *next += 1;
        }
    }
    let last = s.row_start.len() - 1;
    s.row_start.copy_within(0..last, 1);
    s.row_start[0] = 0;

    s.margin.clear();
    s.sign.clear();
    s.weight.clear();
    let (mut inside_positive, mut inside_negative) = (0.0, 0.0);
    let mut n_positive = 0;
    for &i in &s.row_ids {
        s.compact_of[i as usize] = NONE;
        let row = &state.rows[i as usize];
        let (sign, weight) = (row.sign(), row.weight());
        s.margin.push(row.margin);
        s.sign.push(sign);
        s.weight.push(weight);
        if sign > 0.0 {
            inside_positive += weight;
            n_positive += 1;
        } else {
            inside_negative += weight;
        }
    }
    let (positive, negative) = state.class_totals();
    // No row left is no weight left, whatever rounding says.
    let left_positive = state.n_positives() - n_positive;
    let left = state.rows.len() - s.row_ids.len() - left_positive;
    for (sign, weight, n) in [
        (-1.0, negative - inside_negative, left),
        (1.0, positive - inside_positive, left_positive),
    ] {
        s.row_ids.push(NONE);
        s.row_start.push(total);
        s.margin.push(0.0);
        s.sign.push(sign);
        s.weight.push(if n == 0 { 0.0 } else { weight.max(0.0) });
    }
    state.support = s;
}
