//! Bits in bytes, most significant first. A 1 marks their end.

/// Bits being written.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The last `n_waiting` bits of this are not yet in `bytes`.
    waiting: u64,
    n_waiting: u32,
}

/// Bits being read.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next `n_ready` bits, from the top; zeros below them.
    ready: u64,
    n_ready: u32,
    /// How many are left.
    n_left: u64,
}

impl BitWriter {
    /// Append the last `n <= 48` bits of `value`.
    pub(super) fn put(&mut self, value: u64, n: u32) {
        self.waiting = self.waiting << n | value & ((1 << n) - 1);
        self.n_waiting += n;
        while self.n_waiting >= 8 {
            self.n_waiting -= 8;
            self.bytes.push((self.waiting >> self.n_waiting) as u8);
        }
    }

    /// The bytes: a 1 after the bits, then zeros up to a whole byte.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.put(1, 1);
        self.put(0, (8 - self.n_waiting) % 8);
        self.bytes
    }
}

impl<'a> BitReader<'a> {
    /// None where no 1 marks the end.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let n_after = match bytes.last() {
            Some(&last) if last > 0 => u64::from(last.trailing_zeros()) + 1,
            _ => return None,
        };
        Some(Self {
            bytes,
            ready: 0,
            n_ready: 0,
            n_left: 8 * bytes.len() as u64 - n_after,
        })
    }

    /// How many bits are left.
    pub(super) fn n_left(&self) -> u64 {
        self.n_left
    }

    /// Make the next 57 bits or more ready, or all that are left.
    #[inline]
    pub(super) fn refill(&mut self) {
        if let Some((word, _)) = self.bytes.split_first_chunk::<8>() {
            let n_bytes = (64 - self.n_ready) / 8;
            let word = u64::from_be_bytes(*word);
            // What is beyond whole bytes must not be there twice.
            let kept = word & u64::MAX.checked_shl(64 - 8 * n_bytes).unwrap_or(0);
            self.ready |= kept.checked_shr(self.n_ready).unwrap_or(0);
            self.n_ready += 8 * n_bytes;
            self.bytes = &self.bytes[n_bytes as usize..];
        } else {
            while self.n_ready <= 56
                && let Some((&byte, rest)) = self.bytes.split_first()
            {
                self.ready |= u64::from(byte) << (56 - self.n_ready);
                self.n_ready += 8;
                self.bytes = rest;
            }
        }
    }

    /// The next `n` in [1, 57] bits, and what is behind the end. For after `refill`.
    #[inline]
    pub(super) fn peek(&self, n: u32) -> u64 {
        self.ready >> (64 - n)
    }

    /// Pass over `n <= 57` bits; false where there are fewer. For after `refill`.
    #[inline]
    pub(super) fn skip(&mut self, n: u32) -> bool {
        if u64::from(n) > self.n_left {
            return false;
        }
        self.n_left -= u64::from(n);
        self.ready <<= n;
        self.n_ready -= n;
        true
    }

    /// The next `n <= 57` bits; none where there are fewer. For after `refill`.
    #[inline]
    pub(super) fn take(&mut self, n: u32) -> Option<u64> {
        if n == 0 {
            return Some(0);
        }
        let value = self.peek(n);
        self.skip(n).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_any_width_come_back() {
        let mut writer = BitWriter::default();
        let value = |n: u32| 0x9e37_79b9_7f4a_7c15 & ((1u64 << n) - 1);
        for round in 0..3 {
            for n in 0..=48 {
                writer.put(value((n + round) % 49), (n + round) % 49);
            }
        }
        let bytes = writer.finish();
        assert_eq!(bytes.len(), (3 * (48 * 49 / 2) + 8) / 8);
        let mut reader = BitReader::new(&bytes).unwrap();
        for round in 0..3 {
            for n in 0..=48 {
                reader.refill();
                assert_eq!(reader.take((n + round) % 49), Some(value((n + round) % 49)));
            }
        }
        assert_eq!(reader.n_left(), 0);
        reader.refill();
        assert_eq!(reader.take(1), None);
    }

    #[test]
    fn the_most_significant_bit_comes_first() {
        let mut writer = BitWriter::default();
        writer.put(0b101, 3);
        writer.put(0b1, 7);
        assert_eq!(writer.finish(), [0b1010_0000, 0b0110_0000]);
        assert!(BitReader::new(&[1, 0]).is_none());
        assert!(BitReader::new(&[]).is_none());
    }
}
