//! Numbers in LEB128: seven bits a byte, least first.

use crate::{Error, Result};

/// Append `value` in LEB128.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Append sorted unique ids as differences less 1, the first as it is.
pub(super) fn put_sorted(out: &mut Vec<u8>, ids: impl IntoIterator<Item = u32>) {
    let mut next = 0;
    for id in ids {
        put(out, u64::from(id) - next);
        next = u64::from(id) + 1;
    }
}

/// A stream being read.
pub(super) struct Reader<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes }
    }

    pub(super) fn error(&self, what: &str) -> Error {
        Error::format(format!("section {}: {what}", self.name))
    }

    /// The next number.
    pub(super) fn take(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let Some((&byte, rest)) = self.bytes.split_first() else {
                return Err(self.error("ends within a number"));
            };
            self.bytes = rest;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.error("holds a number above 2^64"))
    }

    /// Upper bound of the numbers that are left: each takes a byte or more.
    pub(super) fn n_left(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The next of sorted ids; `next` is 1 + the last one.
    pub(super) fn take_sorted(&mut self, next: &mut u64) -> Result<u32> {
        let id = self
            .take()?
            .checked_add(*next)
            .and_then(|id| u32::try_from(id).ok())
            .ok_or_else(|| self.error("holds an id of 2^32 or more"))?;
        *next = u64::from(id) + 1;
        Ok(id)
    }

    /// Whether all has been read.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn finish(&self) -> Result<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.error("goes on after its end"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_come_back() {
        let mut bytes = Vec::new();
        let numbers = [
            0,
            1,
            127,
            128,
            16_383,
            16_384,
            u64::from(u32::MAX),
            u64::MAX,
        ];
        for n in numbers {
            put(&mut bytes, n);
        }
        let mut reader = Reader::new("numbers", &bytes);
        for n in numbers {
            assert_eq!(reader.take().unwrap(), n);
        }
        reader.finish().unwrap();
        let overlong = [0xff; 12];
        assert!(Reader::new("numbers", &overlong).take().is_err());
    }
}
