//! From a solver's name and options to the method.

use proxtree_core::Error;
use proxtree_core::solver::{ForwardBackward, Method, Rule};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::to_py;

/// The method that goes by `name`, with all of its options. `seed` is that of the
/// methods that draw random numbers.
pub(crate) fn method(name: &str, options: &Bound<'_, PyDict>, seed: u64) -> PyResult<Method> {
    match name {
        "auto" => Ok(Method::Auto),
        "coordinate_descent" => {
            let eps = option(options, "eps")?;
            match option::<String>(options, "variant")?.as_str() {
                "fixed" => Ok(Method::CoordinateDescent { eps }),
                "liblinear" => Ok(Method::Liblinear { eps, seed }),
                other => unknown(options.py(), "variant", other),
            }
        }
        "dual_coordinate_descent" => Ok(Method::DualCoordinateDescent {
            c: option(options, "C")?,
            eps: option(options, "eps")?,
            seed,
        }),
        "forward_backward" => Ok(Method::ForwardBackward(ForwardBackward {
            accelerated: match option::<Option<String>>(options, "acceleration")?.as_deref() {
                None => false,
                Some("fista") => true,
                Some(other) => return unknown(options.py(), "acceleration", other),
            },
            rule: match option::<String>(options, "stop")?.as_str() {
                "paper" => Rule::Step {
                    min_iter: option(options, "min_iter")?,
                    step_tol: option(options, "step_tol")?,
                },
                "gap" => Rule::Gap,
                other => return unknown(options.py(), "stop", other),
            },
            first_step: option(options, "first_step")?,
            step_shrink: option(options, "step_shrink")?,
        })),
        other => unknown(options.py(), "solver", other),
    }
}

fn option<'py, T: FromPyObjectOwned<'py>>(options: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = options.get_item(name)?;
    let value = value.ok_or_else(|| PyKeyError::new_err(format!("solver_options[{name:?}]")))?;
    value.extract().map_err(Into::into)
}

fn unknown<T>(py: Python<'_>, what: &str, name: &str) -> PyResult<T> {
    Err(to_py(
        py,
        Error::data(format!("{what} {name:?} does not exist")),
    ))
}
