//! Compressed sparse matrices: checked once on the way in, trusted after.
//!
//! Row pointers are `u64` throughout, so more than 2^31 stored values need no
//! second code path; column ids are `u32`, values `f32`.

mod csr;
mod normalize;
mod transpose;

pub use csr::{CsrMatrix, CsrView, Pattern, PatternView};
pub use normalize::{append_normalized, normalize_rows};
pub use transpose::{transpose, transpose_pattern};
