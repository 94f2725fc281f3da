//! Decimal numbers from text: ids and correctly rounded `f32`.

/// Powers of ten that `f64` holds exactly.
const POWERS: [f64; 20] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19,
];

/// Decimal digits that always fit in `u64`.
const SAFE_DIGITS: usize = 19;

/// The bits of an `f64` below the last bit of an `f32`.
const BELOW_F32: u64 = (1 << 29) - 1;

/// Powers of ten by which a number grows with up to eight digits.
const SHIFTS: [u64; 9] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
];

/// The digits at the start of `text`: their number and how many there are.
///
/// More than 19 digits give `u64::MAX`, which no id reaches.
#[inline]
pub(super) fn digits(text: &[u8]) -> (u64, usize) {
    let mut number = 0u64;
    let mut length = 0;
    while let Some(digit) = text.get(length).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    if length > SAFE_DIGITS {
        number = u64::MAX;
    }
    (number, length)
}

/// `number` with the digits at the start of `text` behind it, modulo 2^64, and how
/// many they are.
#[inline]
fn append_digits(number: u64, text: &[u8]) -> (u64, usize) {
    let mut number = number;
    let mut length = 0;
    while let Some(eight) = text[length..].first_chunk() {
        let (more, n) = leading_digits(*eight);
        number = number.wrapping_mul(SHIFTS[n]).wrapping_add(more);
        length += n;
        if n < 8 {
            return (number, length);
        }
    }
    while let Some(digit) = text.get(length).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (number, length)
}

/// The digits at the start of eight bytes: their number and how many they are.
///
/// All eight at once in one register, as the number of decimals varies from value to
/// value and a loop over them ends by a mispredicted branch each time. Reading whole
/// sets takes 6 to 11 % less for it; ids, shorter and of one length for most of a
/// row, are faster by a loop.
#[inline]
fn leading_digits(eight: [u8; 8]) -> (u64, usize) {
    const LOW_BITS: u64 = u64::MAX / 255;
    // The first byte is the lowest; a digit becomes its value.
    let values = u64::from_le_bytes(eight) ^ (LOW_BITS * u64::from(b'0'));
    // From the first byte above 9 on, carries may flag wrongly: only it counts.
    let others = (values.wrapping_add(LOW_BITS * 0x76) | values) & (LOW_BITS * 0x80);
    let n = others.trailing_zeros() as usize / 8;
    // Zeros in front; two shifts, as one by 64 is not defined.
    let tens = (values << (4 * (8 - n))) << (4 * (8 - n));
    // Neighbours to numbers of two, four and eight digits, the first in front.
    let hundreds = (tens.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00ff_00ff_00ff_00ff;
    let four = (hundreds.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_ffff_0000_ffff;
    let eight = four.wrapping_mul(1 + (10_000 << 32)) >> 32;
    (eight, n)
}

/// The plain decimal (sign, digits, point, digits) at the start of `text` and its
/// length, or `None` where the standard library must decide.
///
/// Digits and power of ten are exact in `f64`, so their quotient `q` is the exact
/// value rounded once. Rounding `q` again to `f32` is right unless `q` lies
/// halfway between two `f32`, since the exact value is then on a side unknown;
/// any other `q` is on the side of the exact value, as rounding is monotone.
///
/// Source: Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990.
/// Differs: the quotient is taken in the wider type, which covers every `f32`
/// printed with nine digits.
#[inline]
pub(super) fn plain_decimal(text: &[u8]) -> Option<(f32, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut mantissa, mut n_digits) = match text[start..] {
        // Rows of length one have values from 0 to 1: one digit, then the point.
        [digit @ b'0'..=b'9', b'.', ..] => (u64::from(digit - b'0'), 1),
        _ => append_digits(0, &text[start..]),
    };
    let mut at = start + n_digits;
    let mut n_decimals = 0;
    if text.get(at) == Some(&b'.') {
        at += 1;
        (mantissa, n_decimals) = append_digits(mantissa, &text[at..]);
        at += n_decimals;
        n_digits += n_decimals;
    }
    if n_digits == 0 || n_digits > SAFE_DIGITS || mantissa >= 1 << 53 {
        return None;
    }
    let q = mantissa as f64 / POWERS[n_decimals];
    // So few digits stay far from the subnormal f32, whose halves lie elsewhere.
    if q.to_bits() & BELOW_F32 == 1 << 28 {
        return None;
    }
    let value = q as f32;
    Some((if negative { -value } else { value }, at))
}

/// A whole token as a finite `f32`, by the standard library.
pub(super) fn any_decimal(token: &[u8]) -> Option<f32> {
    let value: f32 = std::str::from_utf8(token).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_std(text: &str) -> u32 {
        text.parse::<f32>().unwrap().to_bits()
    }

    #[test]
    fn halfway_cases_go_to_the_standard_library() {
        // 2^24 + 1 lies between the neighbours 2^24 and 2^24 + 2.
        assert_eq!(plain_decimal(b"16777217"), None);
        assert_eq!(plain_decimal(b"16777216"), Some((16_777_216.0, 8)));
        assert_eq!(
            plain_decimal(b"16777217.00000001"),
            Some((16_777_218.0, 17))
        );
        // As f64 this is 0.5 + 2^-25, halfway; exactly it lies 1.2e-17 above.
        assert_eq!(plain_decimal(b"0.5000000298023224"), None);
        assert_eq!(
            any_decimal(b"0.5000000298023224"),
            Some(0.5 + f32::EPSILON / 2.0)
        );
    }

    #[test]
    fn what_is_no_plain_decimal_is_left_alone() {
        for text in [
            "",
            "-",
            ".",
            "-.",
            "+1",
            "nan",
            "inf",
            "x",
            "12345678901234567890",
        ] {
            assert_eq!(plain_decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(
            plain_decimal(b"1e5"),
            Some((1.0, 1)),
            "stops at the exponent"
        );
        assert_eq!(plain_decimal(b"5. "), Some((5.0, 2)));
        assert_eq!(plain_decimal(b".5 "), Some((0.5, 2)));
        assert_eq!(plain_decimal(b"-0 ").map(|v| v.0.to_bits()), Some(1 << 31));
    }

    #[test]
    fn whole_tokens_must_be_finite() {
        for text in [
            "nan",
            "inf",
            "-infinity",
            "1e39",
            "3.5e38",
            "0x1",
            "1_0",
            "",
            "1:2",
        ] {
            assert_eq!(any_decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(any_decimal(b"1e-46"), Some(0.0));
        assert_eq!(any_decimal(b"1e-45"), Some(f32::from_bits(1)));
        assert_eq!(any_decimal(b"3.4028235e38"), Some(f32::MAX));
    }

    #[test]
    fn long_ids_saturate() {
        assert_eq!(digits(b"007:"), (7, 3));
        assert_eq!(
            digits(b"9999999999999999999"),
            (9_999_999_999_999_999_999, 19)
        );
        assert_eq!(digits(b"99999999999999999999 "), (u64::MAX, 20));
        assert_eq!(digits(b":"), (0, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn decimals_agree_with_the_standard_library(text in "-?[0-9]{0,12}(\\.[0-9]{0,14})?") {
            if let Some((value, length)) = plain_decimal(text.as_bytes()) {
                prop_assert_eq!(length, text.len());
                prop_assert_eq!(value.to_bits(), by_std(&text));
            }
        }

        // Random digits almost never come near the middle of two f32.
        #[test]
        fn decimals_around_halfway_are_rounded_right(
            bits in 0x0080_0000u32..0x7f00_0000, decimals in 0usize..16, nudge in -2i64..=2,
        ) {
            let low = f64::from(f32::from_bits(bits));
            let high = f64::from(f32::from_bits(bits + 1));
            let middle = f64::midpoint(low, high);
            let middle = f64::from_bits(middle.to_bits().wrapping_add_signed(nudge));
            for text in [format!("{middle:.decimals$}"), format!("{middle}")] {
                if let Some((value, length)) = plain_decimal(text.as_bytes()) {
                    prop_assert_eq!(length, text.len());
                    prop_assert_eq!(value.to_bits(), by_std(&text));
                }
            }
        }

        #[test]
        fn every_short_f32_comes_back(bits in 0x3000_0000u32..0x4b80_0000) {
            let value = f32::from_bits(bits);
            let text = format!("{value}");
            if let Some((read, _)) = plain_decimal(text.as_bytes()) {
                prop_assert_eq!(read.to_bits(), bits);
            }
        }
    }
}
