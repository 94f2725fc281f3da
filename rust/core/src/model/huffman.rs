//! Prefix codes of least length, at most [`MAX_LENGTH`] bits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Longest code. So a code is found by one look into a table.
pub(super) const MAX_LENGTH: u32 = 11;

/// The length of each symbol's code, 0 where it has none; as long as `counts`,
/// which are at most 256.
///
/// Source: Huffman, "A method for the construction of minimum-redundancy codes",
/// Proc. IRE 1952. Differs: counts are halved until no code is too long.
pub(super) fn lengths(counts: &[u64]) -> Vec<u8> {
    let mut counts = counts.to_vec();
    loop {
        let lengths = optimal(&counts);
        if lengths.iter().all(|&l| u32::from(l) <= MAX_LENGTH) {
            return lengths;
        }
        for count in &mut counts {
            *count = count.div_ceil(2);
        }
    }
}

fn optimal(counts: &[u64]) -> Vec<u8> {
    let mut lengths = vec![0u8; counts.len()];
    let used = || (0..counts.len()).filter(|&s| counts[s] > 0);
    // A lone symbol still takes a bit: what is read is bounded by its bits.
    if used().count() == 1 {
        used().for_each(|s| lengths[s] = 1);
        return lengths;
    }
    // A tree: its count, the least of its symbols to decide ties, its symbols.
    let mut heap: BinaryHeap<_> = used().map(|s| Reverse((counts[s], s, vec![s]))).collect();
    while let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) {
        let symbols = [a.2, b.2].concat();
        for &s in &symbols {
            lengths[s] += 1;
        }
        if heap.is_empty() {
            break;
        }
        heap.push(Reverse((a.0 + b.0, a.1.min(b.1), symbols)));
    }
    lengths
}

/// The canonical code of each symbol: shorter codes first, then smaller symbols.
/// None where the lengths are of no prefix code.
pub(super) fn codes(lengths: &[u8]) -> Option<Vec<u32>> {
    let mut codes = vec![0; lengths.len()];
    let mut next = 0u32;
    for length in 1..=MAX_LENGTH {
        next <<= 1;
        for (code, _) in codes
            .iter_mut()
            .zip(lengths)
            .filter(|&(_, &l)| u32::from(l) == length)
        {
            *code = next;
            next += 1;
        }
        if next > 1 << length {
            return None;
        }
    }
    Some(codes)
}

/// By the next [`MAX_LENGTH`] bits, the symbol they begin with and the length of
/// its code, 0 where they begin with none. None as for [`codes`].
pub(super) fn table(lengths: &[u8]) -> Option<Vec<(u8, u8)>> {
    let codes = codes(lengths)?;
    let mut table = vec![(0, 0); 1 << MAX_LENGTH];
    for (symbol, (&code, &length)) in codes.iter().zip(lengths).enumerate() {
        if length > 0 {
            let shift = MAX_LENGTH - u32::from(length);
            let range = (code << shift) as usize..((code + 1) << shift) as usize;
            table[range].fill((symbol as u8, length));
        }
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_least() {
        // Huffman by hand: 1 + 1 = 2, 2 + 2 = 4, 4 + 5 = 9.
        assert_eq!(lengths(&[5, 0, 2, 1, 1]), [1, 0, 2, 3, 3]);
        assert_eq!(lengths(&[0, 7]), [0, 1]);
        assert_eq!(lengths(&[]), [0u8; 0]);
        assert_eq!(lengths(&[3, 3]), [1, 1]);
        assert_eq!(codes(&[1, 0, 2, 3, 3]).unwrap(), [0, 0, 0b10, 0b110, 0b111]);
    }

    #[test]
    fn long_codes_are_cut_and_still_tell_all_apart() {
        // Fibonacci counts have the longest codes there are.
        let mut counts = vec![1u64, 1];
        for i in 2..40 {
            counts.push(counts[i - 1] + counts[i - 2]);
        }
        let lengths = lengths(&counts);
        assert!(
            lengths.iter().all(|&l| (1..=11).contains(&l)),
            "{lengths:?}"
        );
        let kraft: u32 = lengths.iter().map(|&l| 1 << (11 - l)).sum();
        assert!(kraft <= 1 << 11);
        let table = table(&lengths).unwrap();
        for (symbol, &code) in codes(&lengths).unwrap().iter().enumerate() {
            let at = (code as usize) << (11 - lengths[symbol]);
            assert_eq!(table[at], (symbol as u8, lengths[symbol]));
        }
    }

    #[test]
    fn lengths_of_no_code_are_refused() {
        assert_eq!(codes(&[1, 1, 1]), None);
        assert_eq!(codes(&[2, 1, 2, 2]), None);
    }
}
