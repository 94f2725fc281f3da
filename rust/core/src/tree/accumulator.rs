//! Sums of sparse rows: dense values, sparse bookkeeping.

use std::sync::Mutex;

/// A dense vector of sums that knows which of its entries were touched.
///
/// Two levels of bit masks give the touched entries in ascending order without
/// sorting and without a look at the others: 64 features a word, 64 words a
/// summary word. Clearing costs as much as reading.
#[derive(Debug)]
pub(super) struct Accumulator {
    sums: Vec<f64>,
    touched: Vec<u64>,
    summary: Vec<u64>,
}

impl Accumulator {
    pub(super) fn new(n_features: usize) -> Self {
        let words = n_features.div_ceil(64);
        Self {
            sums: vec![0.0; n_features],
            touched: vec![0; words],
            summary: vec![0; words.div_ceil(64)],
        }
    }

    /// Add a sparse row.
    pub(super) fn add(&mut self, ids: &[u32], values: &[f32]) {
        for (&f, &v) in ids.iter().zip(values) {
            let f = f as usize;
            self.sums[f] += f64::from(v);
            let word = &mut self.touched[f / 64];
            if *word == 0 {
                self.summary[f / 4096] |= 1 << (f / 64 % 64);
            }
            *word |= 1 << (f % 64);
        }
    }

    /// Hand out (feature, sum) in ascending order and clear.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u32, f64)) {
        for (s, summary) in self.summary.iter_mut().enumerate() {
            for w in bits(std::mem::take(summary)) {
                let w = s * 64 + w;
                for b in bits(std::mem::take(&mut self.touched[w])) {
                    let f = w * 64 + b;
                    take(f as u32, std::mem::take(&mut self.sums[f]));
                }
            }
        }
    }
}

/// Positions of the bits set in `word`, ascending.
fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            bit
        })
    })
}

/// Cleared accumulators, lent out: at most one per thread is ever made.
#[derive(Debug)]
pub(super) struct AccumulatorPool {
    n_features: usize,
    idle: Mutex<Vec<Accumulator>>,
}

impl AccumulatorPool {
    pub(super) fn new(n_features: usize) -> Self {
        Self {
            n_features,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Lend one to `work`, which must leave it drained.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Accumulator) -> T) -> T {
        let idle = || {
            self.idle
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
        };
        let lent = idle().pop();
        let mut lent = lent.unwrap_or_else(|| Accumulator::new(self.n_features));
        let result = work(&mut lent);
        idle().push(lent);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_come_out_in_order_once() {
        let mut sums = Accumulator::new(10_000);
        sums.add(&[9_999, 3, 64], &[1.0, 2.0, 4.0]);
        sums.add(&[0, 64, 5_000], &[8.0, -0.5, 0.25]);
        let mut seen = Vec::new();
        sums.drain(|f, v| seen.push((f, v)));
        assert_eq!(
            seen,
            [(0, 8.0), (3, 2.0), (64, 3.5), (5_000, 0.25), (9_999, 1.0)]
        );
        sums.drain(|f, _| panic!("{f} was not cleared"));
    }
}
