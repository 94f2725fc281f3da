//! A sweep over rows, all problems of a block at once.
//!
//! Compiled for each instruction set: see [`Lanes`].

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;
use super::lanes::{Lanes, Line};
use crate::instructions::prefetch;
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

/// A sweep over the rows of `list`, in its order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep<'a> {
    pub(super) rows: CsrView<'a>,
    pub(super) samples: &'a [Sample],
    pub(super) list: &'a [u32],
    pub(super) control: &'a Control,
}

impl Sweep<'_> {
    /// Take every row's step; the problems in which a row left.
    pub(super) fn run(self, terms: &mut Terms, state: &mut State) -> u16 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.run_avx2(terms, state) };
        }
        // SAFETY: arrays need no instructions of their own.
        unsafe { self.run_with::<Line>(terms, state) }
    }

    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn run_avx2(self, terms: &mut Terms, state: &mut State) -> u16 {
        // SAFETY: as the caller promises.
        unsafe { self.run_with::<Avx2>(terms, state) }
    }

    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    unsafe fn run_with<V: Lanes>(self, terms: &mut Terms, state: &mut State) -> u16 {
        let mut left = 0;
        for (s, &i) in self.list.iter().enumerate() {
            if s % ROWS_PER_CHECK == 0 && self.control.is_cancelled() {
                break;
            }
            self.prefetch_rows(s + 1, state);
            let i = i as usize;
            let (ids, values) = self.rows.row(i);
            let mask = state.active[i];
            // SAFETY: as the caller promises.
            unsafe {
                let margins = dot::<V>(ids, values, &state.weights);
                let dual = &mut state.duals[i];
                let (moves, moving, leaving) = step(margins, self.samples[i], mask, terms, dual);
                state.active[i] = mask & !leaving;
                left |= leaving;
                if moving {
                    add(ids, values, moves, &mut state.weights);
                }
            }
        }
        left
    }

    /// Rows come in random order: ask for the next few, from place `next` on.
    #[inline(always)]
    fn prefetch_rows(self, next: usize, state: &State) {
        let next = &self.list[next..];
        if let Some(&i) = next.get(5) {
            let i = i as usize;
            prefetch(&self.rows.pattern().indptr()[i]);
            prefetch(&self.samples[i]);
            prefetch(&state.active[i]);
            prefetch(&state.duals[i]);
        }
        if let Some(&i) = next.get(2) {
            let (ids, values) = self.rows.row(i as usize);
            for k in (0..ids.len()).step_by(16) {
                prefetch(&ids[k]);
                prefetch(&values[k]);
            }
        }
    }
}

/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn dot<V: Lanes>(ids: &[u32], values: &[f32], weights: &[Line]) -> V {
    // SAFETY: as the caller promises.
    unsafe {
        // Four sums: additions need not wait for each other.
        let mut sums = [V::splat(0.0); 4];
        let (fours, ids) = ids.as_chunks::<4>();
        let (four_values, values) = values.as_chunks::<4>();
        for (ids, values) in fours.iter().zip(four_values) {
            for k in 0..4 {
                let w = V::load(&weights[ids[k] as usize]);
                sums[k] = sums[k].add(w.mul(V::splat(values[k])));
            }
        }
        for (&j, &x) in ids.iter().zip(values) {
            let w = V::load(&weights[j as usize]);
            sums[0] = sums[0].add(w.mul(V::splat(x)));
        }
        let [a, b, c, d] = sums;
        a.add(b).add(c.add(d))
    }
}

/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn add<V: Lanes>(ids: &[u32], values: &[f32], moves: V, weights: &mut [Line]) {
    for (&j, &x) in ids.iter().zip(values) {
        let line = &mut weights[j as usize];
        // SAFETY: as the caller promises.
        unsafe { V::load(line).add(moves.mul(V::splat(x))).store(line) };
    }
}

/// Solve for the row's dual variables; what to add to its weights, whether that is
/// anything, and the problems in which the row leaves.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn step<V: Lanes>(
    margins: V,
    sample: Sample,
    mask: u16,
    terms: &mut Terms,
    dual: &mut Line,
) -> (V, bool, u16) {
    // SAFETY: as the caller promises.
    unsafe {
        let zero = V::splat(0.0);
        let before = V::load(dual);
        let sign = before.sign();
        let a = before.xor(sign);
        let of_class = V::select(
            before.negative(),
            V::load(&terms.negative),
            V::load(&terms.positive),
        );
        let diagonal = of_class.mul(V::splat(sample.inverse));
        let imbalance = V::load(&terms.imbalance);
        let z = margins.add(imbalance.mul(V::splat(terms.mu)));
        let slope = z.xor(sign).sub(V::splat(1.0)).add(a.mul(diagonal));
        let on = V::mask(mask);
        let inside = a.greater(zero);
        let beyond = slope.greater(V::load(&terms.beyond));
        let leaving = V::both(on, V::without(beyond, inside));
        let counted = V::without(on, leaving);
        let projected = V::select(inside, slope, slope.min(zero));
        let low = V::select(counted, projected, V::splat(f32::INFINITY));
        let high = V::select(counted, projected, V::splat(f32::NEG_INFINITY));
        low.min(V::load(&terms.low)).store(&mut terms.low);
        high.max(V::load(&terms.high)).store(&mut terms.high);
        let best = a
            .sub(slope.div(diagonal.add(V::splat(sample.square))))
            .max(zero);
        let steep = projected.xor(projected.sign()).greater(V::splat(FLOOR));
        let moving = V::both(on, steep);
        let after = V::select(moving, best.xor(sign), before);
        after.store(dual);
        let moves = after.sub(before);
        imbalance.add(moves).store(&mut terms.imbalance);
        (moves, V::bits(moving) != 0, V::bits(leaving))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix64;
    use crate::sparse::{CsrMatrix, Pattern};

    /// Two sweeps over rows of 0 to 10 entries with AVX2 and in plain arrays: the
    /// same bits everywhere.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn instructions_do_not_change_a_bit() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let mut rng = SplitMix64::new(1);
        let (n, d) = (200_u32, 11);
        let mut draw = move || rng.uniform() as f32 - 0.3;
        let mut pattern = Pattern {
            n_cols: d,
            indptr: vec![0],
            indices: Vec::new(),
        };
        let mut data = Vec::new();
        for i in 0..n {
            let ids = 0..i % d as u32;
            data.extend(ids.clone().map(|_| draw()));
            pattern.indices.extend(ids);
            pattern.indptr.push(data.len() as u64);
        }
        let matrix = CsrMatrix { pattern, data };
        let mut line = || Line(std::array::from_fn(|_| draw()));
        let duals: Vec<Line> = (0..n).map(|_| line()).collect();
        let start = || {
            let state = State {
                weights: vec![Line([0.25; 16]); d],
                duals: duals
                    .iter()
                    // Half of them at their bound, of either class.
                    .map(|line| Line(line.0.map(|a| if a.abs() < 0.2 { 0.0 * a } else { a })))
                    .collect(),
                active: (0..n as u16).map(|i| !(i * 77)).collect(),
            };
            let terms = Terms {
                positive: Line([0.25; 16]),
                negative: Line([0.5; 16]),
                beyond: Line([0.125; 16]),
                low: Line([f32::INFINITY; 16]),
                high: Line([f32::NEG_INFINITY; 16]),
                imbalance: Line([0.5; 16]),
                mu: 0.75,
            };
            (state, terms)
        };
        let samples: Vec<Sample> = (0..n)
            .map(|i| Sample {
                inverse: 1.5,
                square: i as f32,
            })
            .collect();
        let list: Vec<u32> = (0..n).rev().collect();
        let sweep = Sweep {
            rows: matrix.view(),
            samples: &samples,
            list: &list,
            control: &Control::default(),
        };
        let bits = |(state, terms): &(State, Terms), left: u16| {
            let lines = state.weights.iter().chain(&state.duals);
            let lines = lines.chain([&terms.low, &terms.high, &terms.imbalance]);
            let bits: Vec<u32> = lines.flat_map(|line| line.0.map(f32::to_bits)).collect();
            (bits, state.active.clone(), left)
        };
        let (mut plain, mut vector) = (start(), start());
        for _ in 0..2 {
            let (state, terms) = &mut plain;
            // SAFETY: arrays need no instructions of their own.
            let a = unsafe { sweep.run_with::<Line>(terms, state) };
            let (state, terms) = &mut vector;
            // SAFETY: AVX2 is there.
            let b = unsafe { sweep.run_avx2(terms, state) };
            assert!(a != 0);
            assert_eq!(bits(&plain, a), bits(&vector, b));
        }
        assert_ne!(bits(&plain, 0), bits(&start(), 0));
    }
}
