//! The proofs of a block's problems, in `f64`.

use super::lanes::{LANES, Line, WideLine};
use crate::parallel::Control;
use crate::solver::squared::ROWS_PER_CHECK;
use crate::sparse::CsrView;

/// Weights summed anew from the dual variables.
pub(super) fn sum_weights(
    rows: CsrView<'_>,
    duals: &[Line],
    weights: &mut [WideLine],
    control: &Control,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { sum_avx2(rows, duals, weights, control) };
    }
    sum_anyhow(rows, duals, weights, control);
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn sum_avx2(
    rows: CsrView<'_>,
    duals: &[Line],
    weights: &mut [WideLine],
    control: &Control,
) {
    sum_anyhow(rows, duals, weights, control);
}

#[inline(always)]
fn sum_anyhow(rows: CsrView<'_>, duals: &[Line], weights: &mut [WideLine], control: &Control) {
    for (i, duals) in duals.iter().enumerate() {
        if i % ROWS_PER_CHECK == 0 && control.is_cancelled() {
            break;
        }
        if duals.0.iter().all(|&a| a == 0.0) {
            continue;
        }
        let wide = duals.0.map(f64::from);
        let (ids, values) = rows.row(i);
        for (&j, &x) in ids.iter().zip(values) {
            let w = &mut weights[j as usize].0;
            let x = f64::from(x);
            for k in 0..LANES {
                w[k] += x * wide[k];
            }
        }
    }
}

/// Sum of `C_i hinge_i^2` of each problem; `unit` gives `C` of positives and of
/// negatives of weight 1.
pub(super) fn losses(
    rows: CsrView<'_>,
    sample_weight: Option<&[f64]>,
    duals: &[Line],
    weights: &[WideLine],
    intercepts: &WideLine,
    unit: (&WideLine, &WideLine),
    control: &Control,
) -> WideLine {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe {
            losses_avx2(
                rows,
                sample_weight,
                duals,
                weights,
                intercepts,
                unit,
                control,
            )
        };
    }
    losses_anyhow(
        rows,
        sample_weight,
        duals,
        weights,
        intercepts,
        unit,
        control,
    )
}

/// # Safety
/// The processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn losses_avx2(
    rows: CsrView<'_>,
    sample_weight: Option<&[f64]>,
    duals: &[Line],
    weights: &[WideLine],
    intercepts: &WideLine,
    unit: (&WideLine, &WideLine),
    control: &Control,
) -> WideLine {
    losses_anyhow(
        rows,
        sample_weight,
        duals,
        weights,
        intercepts,
        unit,
        control,
    )
}

#[inline(always)]
fn losses_anyhow(
    rows: CsrView<'_>,
    sample_weight: Option<&[f64]>,
    duals: &[Line],
    weights: &[WideLine],
    intercepts: &WideLine,
    unit: (&WideLine, &WideLine),
    control: &Control,
) -> WideLine {
    let mut loss = WideLine::ZERO;
    for (i, duals) in duals.iter().enumerate() {
        if i % ROWS_PER_CHECK == 0 && control.is_cancelled() {
            break;
        }
        let (ids, values) = rows.row(i);
        let weight = sample_weight.map_or(1.0, |w| w[i]);
        let mut z = *intercepts;
        for (&j, &x) in ids.iter().zip(values) {
            let w = &weights[j as usize].0;
            let x = f64::from(x);
            for k in 0..LANES {
                z.0[k] += x * w[k];
            }
        }
        for k in 0..LANES {
            let positive = duals.0[k].is_sign_positive();
            let hinge = 1.0 - if positive { z.0[k] } else { -z.0[k] };
            let c = weight * if positive { unit.0.0[k] } else { unit.1.0[k] };
            let hinge = if hinge > 0.0 { hinge } else { 0.0 };
            loss.0[k] += c * hinge * hinge;
        }
    }
    loss
}
