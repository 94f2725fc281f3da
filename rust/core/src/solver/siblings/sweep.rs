//! A sweep over rows, all problems of a block at once.
//!
//! Written as loops over lanes that compilers turn into vector instructions, and
//! compiled twice: products and sums are rounded one by one, in an order that does
//! not depend on the instruction set, and so do not the models.

use super::lanes::{LANES, Line, SIGN};
use crate::parallel::Control;
use crate::solver::squared::ROWS_PER_CHECK;
use crate::sparse::CsrView;

/// Derivatives below this are rounding, not worth a step.
const FLOOR: f32 = 1e-6;

/// What a step needs to know of the problems.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// `1 / (2 C)` of a positive and of a negative sample of weight 1.
    pub(super) positive: Line,
    pub(super) negative: Line,
    /// At the bound, derivatives beyond this make a sample leave.
    pub(super) beyond: Line,
    /// Least and largest projected derivative of the sweep.
    pub(super) low: Line,
    pub(super) high: Line,
    /// `sum_i s_i a_i`.
    pub(super) imbalance: Line,
    /// Square of the intercept's column.
    pub(super) mu: f32,
}

/// The numbers of a sample that all problems share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Inverse of the sample's weight.
    pub(super) inverse: f32,
    /// Squared length of the row, the intercept's column included.
    pub(super) square: f32,
}

/// The state of the problems of a block.
#[derive(Debug, Default)]
pub(super) struct State {
    /// A line for each feature.
    pub(super) weights: Vec<Line>,
    /// `s_i a_i` for each row; the sign bit is the class, also of a zero.
    pub(super) duals: Vec<Line>,
    /// For each row the problems in which it is active, a bit each.
    pub(super) active: Vec<u16>,
}

/// Sweep over the rows of `list`; the problems in which a row left.
pub(super) fn sweep(
    rows: CsrView<'_>,
    samples: &[Sample],
    list: &[u32],
    terms: &mut Terms,
    state: &mut State,
    control: &Control,
) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { sweep_avx2(rows, samples, list, terms, state, control) };
    }
    sweep_anyhow(rows, samples, list, terms, state, control)
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sweep_avx2(
    rows: CsrView<'_>,
    samples: &[Sample],
    list: &[u32],
    terms: &mut Terms,
    state: &mut State,
    control: &Control,
) -> u16 {
    sweep_anyhow(rows, samples, list, terms, state, control)
}

#[inline(always)]
fn sweep_anyhow(
    rows: CsrView<'_>,
    samples: &[Sample],
    list: &[u32],
    terms: &mut Terms,
    state: &mut State,
    control: &Control,
) -> u16 {
    let mut left = 0;
    for (s, &i) in list.iter().enumerate() {
        if s % ROWS_PER_CHECK == 0 && control.is_cancelled() {
            break;
        }
        let i = i as usize;
        let (ids, values) = rows.row(i);
        let margins = dot(ids, values, &state.weights);
        let mask = state.active[i];
        let (moves, leaving) = step(&margins, samples[i], mask, terms, &mut state.duals[i]);
        state.active[i] = mask & !leaving;
        left |= leaving;
        if let Some(moves) = moves {
            add(ids, values, &moves, &mut state.weights);
        }
    }
    left
}

#[inline(always)]
fn dot(ids: &[u32], values: &[f32], weights: &[Line]) -> Line {
    // Two sums: additions need not wait for each other.
    let (mut even, mut odd) = (Line::ZERO, Line::ZERO);
    let (pairs, last) = ids.as_chunks::<2>();
    let (pair_values, last_value) = values.as_chunks::<2>();
    for (&[i, j], &[x, y]) in pairs.iter().zip(pair_values) {
        let (a, b) = (&weights[i as usize].0, &weights[j as usize].0);
        for k in 0..LANES {
            even.0[k] += x * a[k];
        }
        for k in 0..LANES {
            odd.0[k] += y * b[k];
        }
    }
    for (&i, &x) in last.iter().zip(last_value) {
        let a = &weights[i as usize].0;
        for k in 0..LANES {
            even.0[k] += x * a[k];
        }
    }
    for k in 0..LANES {
        even.0[k] += odd.0[k];
    }
    even
}

#[inline(always)]
fn add(ids: &[u32], values: &[f32], moves: &Line, weights: &mut [Line]) {
    for (&i, &x) in ids.iter().zip(values) {
        let a = &mut weights[i as usize].0;
        for k in 0..LANES {
            a[k] += x * moves.0[k];
        }
    }
}

/// Solve for the row's dual variables; what to add to its weights, if anything, and
/// the problems in which it leaves.
#[inline(always)]
fn step(
    margins: &Line,
    sample: Sample,
    mask: u16,
    terms: &mut Terms,
    duals: &mut Line,
) -> (Option<Line>, u16) {
    let mut moves = Line::ZERO;
    let mut leaves = [0_u32; LANES];
    for k in 0..LANES {
        let bits = duals.0[k].to_bits();
        let sign = bits & SIGN;
        let a = f32::from_bits(bits ^ sign);
        let unit = if sign == 0 {
            terms.positive.0[k]
        } else {
            terms.negative.0[k]
        };
        let diagonal = sample.inverse * unit;
        let z = margins.0[k] + terms.mu * terms.imbalance.0[k];
        let slope = f32::from_bits(z.to_bits() ^ sign) - 1.0 + a * diagonal;
        let on = u32::from(mask) >> k & 1 != 0;
        let at_bound = a == 0.0;
        let leaving = on & at_bound & (slope > terms.beyond.0[k]);
        let counted = on & !leaving;
        let projected = if at_bound & (slope > 0.0) { 0.0 } else { slope };
        let low = if counted { projected } else { f32::INFINITY };
        let high = if counted { projected } else { f32::NEG_INFINITY };
        terms.low.0[k] = if low < terms.low.0[k] { low } else { terms.low.0[k] };
        terms.high.0[k] = if high > terms.high.0[k] { high } else { terms.high.0[k] };
        let next = a - slope / (sample.square + diagonal);
        let next = if next > 0.0 { next } else { 0.0 };
        let moved = if on & (projected.abs() > FLOOR) { next } else { a };
        let signed = f32::from_bits(moved.to_bits() | sign);
        moves.0[k] = signed - duals.0[k];
        duals.0[k] = signed;
        leaves[k] = u32::from(leaving);
    }
    for k in 0..LANES {
        terms.imbalance.0[k] += moves.0[k];
    }
    let any = moves.0.iter().fold(0, |any, m| any | m.to_bits()) & !SIGN != 0;
    let mut leaving = 0;
    if leaves.iter().fold(0, |any, l| any | l) != 0 {
        for (k, leave) in leaves.iter().enumerate() {
            leaving |= (*leave as u16) << k;
        }
    }
    (any.then_some(moves), leaving)
}
