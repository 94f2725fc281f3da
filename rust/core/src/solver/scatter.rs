//! Adding up rows into a dense vector: what a full gradient costs.

use crate::parallel::Control;
use crate::sparse::CsrView;

/// Rows between two looks at the cancel flag.
const ROWS_PER_CHECK: usize = 1 << 10;

/// How many rows ahead their entries are asked for. The rows of a list lie anywhere
/// in X, each behind a few cache lines that no hardware foresees.
const AHEAD: usize = 4;

/// Entries of a cache line, and lines asked for: the rest of a long row streams.
const LINE: usize = 16;
const LINES: usize = 8;

/// `sum += 2 residual x_i` for each `(i, residual)` of `list`, in its order.
///
/// Cost: the stored values of those rows.
pub(super) fn scatter(
    rows: CsrView<'_>,
    list: &[(u32, f64)],
    sum: &mut [f64],
    control: &Control,
) {
    for (at, &(i, residual)) in list.iter().enumerate() {
        // What is left half done then counts as cancelled, not as a proof.
        if at % ROWS_PER_CHECK == 0 && control.is_cancelled() {
            break;
        }
        if let Some(&(next, _)) = list.get(at + AHEAD) {
            let (ids, values) = rows.row(next as usize);
            prefetch(ids);
            prefetch(values);
        }
        let (ids, values) = rows.row(i as usize);
        let twice = 2.0 * residual;
        for (&j, &x) in ids.iter().zip(values) {
            sum[j as usize] += twice * f64::from(x);
        }
    }
}

/// Ask for the first lines of `entries`.
#[inline]
fn prefetch<T>(entries: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for first in entries.iter().step_by(LINE).take(LINES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, at an address inside the slice; every x86-64 has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(first).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (entries, LINE, LINES);
}
