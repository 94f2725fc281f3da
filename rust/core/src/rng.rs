//! A small seeded generator whose streams never change between versions.

/// `SplitMix64`: 64 bits of state, one addition and one mix per number.
///
/// Kept here rather than taken from a crate so that a seed fixes a tree for as
/// long as this file stands. Every unit of work has a stream of its own, so no
/// result depends on which thread did what first.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014; constants of Vigna's public-domain `splitmix64.c`.
#[derive(Clone, Debug)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// The generator whose state is `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream of unit `unit` (a node, a problem) under `seed`.
    pub fn stream(seed: u64, unit: u64) -> Self {
        Self::new(mix(mix(seed) ^ unit))
    }

    /// The next number, uniform over all of `u64`.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.state)
    }

    /// A number uniform in [0, 1), on a grid of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number uniform in `0..n` (0 for `n = 0`); the bias is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_reference_code() {
        // Vigna's splitmix64.c, started at 1234567.
        let mut rng = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn ranges_hold_and_streams_differ() {
        let mut rng = SplitMix64::stream(0, 0);
        for n in 1..200 {
            assert!(rng.below(n) < n);
            assert!((0.0..1.0).contains(&rng.uniform()));
        }
        let first = |seed, unit| SplitMix64::stream(seed, unit).next_u64();
        let all = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        assert!((1..4).all(|i| !all[..i].contains(&all[i])));
    }
}
