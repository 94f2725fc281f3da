//! Streams of numbers in as few bits as their distribution allows.
//!
//! A number is a symbol in a Huffman code and some bits as they are. Of an
//! integer the symbol is its number of bits, the leading one left out of what
//! follows; of a float it is its exponent, followed by sign and mantissa. A
//! stream may keep a code for each of several contexts, which the caller tells
//! apart by what it knows before it reads. The codes come first: per context a bit,
//! 0 for one without numbers, or 1, the least symbol (8 bits), how many follow it
//! (8 bits) and their codes' lengths (4 bits each).

use super::bits::{BitReader, BitWriter};
use super::huffman::{self, MAX_LENGTH};
use crate::{Error, Result};

/// Integers have at most this many bits.
const MAX_BITS: u32 = 40;

/// Contexts by size, see [`context`].
pub(super) const N_SIZES: usize = 33;

/// The context of what depends on a size: its number of bits.
#[inline]
pub(super) fn context(size: usize) -> usize {
    (usize::BITS - size.leading_zeros()).min(32) as usize
}

struct Item {
    bits: u64,
    n_bits: u8,
    symbol: u8,
    context: u8,
}

/// Numbers being collected.
pub(super) struct Encoder {
    items: Vec<Item>,
    n_contexts: usize,
    prefix: Vec<u8>,
}

/// Numbers being read.
pub(super) struct Decoder<'a> {
    name: &'a str,
    bits: BitReader<'a>,
    /// By context; empty where nothing is said in it.
    tables: Vec<Vec<(u8, u8)>>,
    n_mantissa: u32,
}

impl Encoder {
    pub(super) fn new(n_contexts: usize) -> Self {
        Self {
            items: Vec::new(),
            n_contexts,
            prefix: Vec::new(),
        }
    }

    /// Append an integer below 2^40.
    pub(super) fn put(&mut self, context: usize, value: u64) {
        let symbol = u64::BITS - value.leading_zeros();
        let n_bits = symbol.saturating_sub(1);
        self.items.push(Item {
            bits: value & ((1 << n_bits) - 1),
            n_bits: n_bits as u8,
            symbol: symbol as u8,
            context: context as u8,
        });
    }

    /// A stream of floats. Mantissa bits that are zero in all of them are left
    /// out; the first byte says how many stay.
    pub(super) fn floats(values: &[f32]) -> Vec<u8> {
        let used = values.iter().fold(0, |bits, v| bits | v.to_bits()) & 0x7f_ffff;
        let n_mantissa = 23 - used.trailing_zeros().min(23);
        let mut this = Self::new(1);
        this.prefix.push(n_mantissa as u8);
        this.items.extend(values.iter().map(|v| {
            let bits = v.to_bits();
            let mantissa = (bits & 0x7f_ffff) >> (23 - n_mantissa);
            Item {
                bits: u64::from(bits >> 31 << n_mantissa | mantissa),
                n_bits: n_mantissa as u8 + 1,
                symbol: (bits >> 23) as u8,
                context: 0,
            }
        }));
        this.finish()
    }

    /// The stream's bytes: none for no numbers.
    pub(super) fn finish(self) -> Vec<u8> {
        if self.items.is_empty() {
            return Vec::new();
        }
        let mut counts = vec![[0u64; 256]; self.n_contexts];
        for item in &self.items {
            counts[usize::from(item.context)][usize::from(item.symbol)] += 1;
        }
        let mut out = BitWriter::default();
        for &byte in &self.prefix {
            out.put(u64::from(byte), 8);
        }
        let mut tables = Vec::with_capacity(self.n_contexts);
        for counts in &counts {
            let lengths = huffman::lengths(counts);
            let first = lengths.iter().position(|&l| l > 0).unwrap_or(0);
            let end = lengths.iter().rposition(|&l| l > 0).map_or(0, |at| at + 1);
            out.put(u64::from(end > 0), 1);
            if end > 0 {
                out.put(first as u64, 8);
                out.put((end - first) as u64 - 1, 8);
            }
            for &length in &lengths[first..end] {
                out.put(u64::from(length), 4);
            }
            let codes = huffman::codes(&lengths).unwrap_or_default();
            tables.push((lengths, codes));
        }
        for item in &self.items {
            let (lengths, codes) = &tables[usize::from(item.context)];
            let symbol = usize::from(item.symbol);
            out.put(u64::from(codes[symbol]), u32::from(lengths[symbol]));
            out.put(item.bits, u32::from(item.n_bits));
        }
        out.finish()
    }
}

impl<'a> Decoder<'a> {
    /// Read the codes of a stream of integers; no bytes are an empty stream.
    ///
    /// # Errors
    /// [`Error::Format`] naming the stream, as do all methods.
    pub(super) fn new(name: &'a str, bytes: &'a [u8], n_contexts: usize) -> Result<Self> {
        const EMPTY: &[u8] = &[0x80];
        let is_empty = bytes.is_empty();
        let bits = BitReader::new(if is_empty { EMPTY } else { bytes })
            .ok_or_else(|| Error::format(format!("section {name}: has no mark of its end")))?;
        let mut this = Self {
            name,
            bits,
            tables: vec![Vec::new(); n_contexts],
            n_mantissa: 0,
        };
        if !is_empty {
            this.read_codes(n_contexts)?;
        }
        Ok(this)
    }

    /// Read the codes of a stream of floats.
    pub(super) fn floats(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let (&n_mantissa, codes) = bytes.split_first().unwrap_or((&0, bytes));
        let mut this = Self::new(name, codes, 1)?;
        this.n_mantissa = u32::from(n_mantissa);
        if n_mantissa > 23 {
            return Err(this.error("holds too wide floats"));
        }
        Ok(this)
    }

    fn read_codes(&mut self, n_contexts: usize) -> Result<()> {
        let ends = || Error::format(format!("section {}: ends within its codes", self.name));
        for context in 0..n_contexts {
            self.bits.refill();
            if self.bits.take(1).ok_or_else(ends)? == 0 {
                continue;
            }
            let first = self.bits.take(8).ok_or_else(ends)? as usize;
            let n = self.bits.take(8).ok_or_else(ends)? as usize + 1;
            let mut lengths = vec![0u8; first];
            for _ in 0..n {
                self.bits.refill();
                lengths.push(self.bits.take(4).ok_or_else(ends)? as u8);
            }
            if lengths.len() > 256 || lengths.iter().any(|&l| u32::from(l) > MAX_LENGTH) {
                return Err(self.error("holds no valid codes"));
            }
            if n > 0 {
                self.tables[context] =
                    huffman::table(&lengths).ok_or_else(|| self.error("holds no valid codes"))?;
            }
        }
        Ok(())
    }

    pub(super) fn error(&self, what: &str) -> Error {
        Error::format(format!("section {}: {what}", self.name))
    }

    #[inline]
    fn symbol(&mut self, context: usize) -> Result<u32> {
        self.bits.refill();
        let at = self.bits.peek(MAX_LENGTH) as usize;
        match self.tables[context].get(at) {
            Some(&(symbol, length)) if length > 0 && self.bits.skip(u32::from(length)) => {
                Ok(u32::from(symbol))
            }
            _ => Err(self.error("ends within a number, or holds none")),
        }
    }

    /// The next integer.
    #[inline]
    pub(super) fn take(&mut self, context: usize) -> Result<u64> {
        let symbol = self.symbol(context)?;
        let n_bits = symbol.saturating_sub(1);
        if symbol > MAX_BITS {
            return Err(self.error("holds a number of 2^40 or more"));
        }
        match self.bits.take(n_bits) {
            Some(rest) => Ok(u64::from(symbol > 0) << n_bits | rest),
            None => Err(self.error("ends within a number")),
        }
    }

    /// The next float.
    #[inline]
    pub(super) fn take_float(&mut self) -> Result<f32> {
        let exponent = self.symbol(0)?;
        let Some(bits) = self.bits.take(self.n_mantissa + 1) else {
            return Err(self.error("ends within a number"));
        };
        let bits = bits as u32;
        let sign = bits >> self.n_mantissa;
        let mantissa = (bits & ((1 << self.n_mantissa) - 1)) << (23 - self.n_mantissa);
        Ok(f32::from_bits(sign << 31 | exponent << 23 | mantissa))
    }

    /// Upper bound of the numbers that are left: each takes a bit or more.
    pub(super) fn n_left(&self) -> u64 {
        self.bits.n_left()
    }

    pub(super) fn finish(&self) -> Result<()> {
        if self.bits.n_left() == 0 {
            Ok(())
        } else {
            Err(self.error("goes on after its end"))
        }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_all_sizes_come_back() {
        let numbers = || (0..40).flat_map(|bits| [1u64 << bits, (1 << bits) - 1, (2 << bits) - 1]);
        let mut encoder = Encoder::new(3);
        for (i, n) in numbers().enumerate() {
            encoder.put(i % 2, n);
        }
        let bytes = encoder.finish();
        let mut decoder = Decoder::new("n", &bytes, 3).unwrap();
        for (i, n) in numbers().enumerate() {
            assert_eq!(decoder.take(i % 2).unwrap(), n);
        }
        decoder.finish().unwrap();
        let e = decoder.take(2).unwrap_err().to_string();
        assert!(e.contains("section n"), "{e}");
    }

    /// 2, 3, 0 by hand. Symbols: 2 bits twice (code 1, then the last bit), none
    /// once (code 0). Codes: least symbol 0, 2 after it, lengths 1, 0, 1.
    #[test]
    fn the_layout_is_as_documented() {
        let mut encoder = Encoder::new(1);
        for n in [2, 3, 0] {
            encoder.put(0, n);
        }
        let bits = "1 00000000 00000010 0001 0000 0001 10 11 0".replace(' ', "");
        let bytes: Vec<u8> = format!("{bits}100000")
            .as_bytes()
            .chunks(8)
            .map(|b| u8::from_str_radix(std::str::from_utf8(b).unwrap(), 2).unwrap())
            .collect();
        assert_eq!(encoder.finish(), bytes);
    }

    #[test]
    fn floats_come_back_bit_by_bit() {
        let cases: [&[f32]; 4] = [
            &[
                0.1,
                -0.7,
                3e38,
                1e-45,
                -0.0,
                f32::MIN_POSITIVE,
                f32::INFINITY,
            ],
            &[0.5, -2.0, 4.0],
            &[1.5],
            &[],
        ];
        for values in cases {
            let bytes = Encoder::floats(values);
            let mut decoder = Decoder::floats("w", &bytes).unwrap();
            for v in values {
                assert_eq!(decoder.take_float().unwrap().to_bits(), v.to_bits());
            }
            decoder.finish().unwrap();
        }
        // No mantissa where none is needed: an exponent's code of a bit and a sign.
        let halves = [0.5f32; 80];
        assert_eq!(Encoder::floats(&halves)[0], 0);
        assert!(Encoder::floats(&halves).len() <= 1 + 3 + 20);
        assert!(Decoder::floats("w", &[24, 0, 0, 0]).is_err());
    }
}
