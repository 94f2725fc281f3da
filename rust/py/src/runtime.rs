//! The one door for slow work.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

use proxtree_core::parallel::{self, Control};
use proxtree_core::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::to_py;

/// How often the calling thread looks at signals and reports progress.
const POLL: Duration = Duration::from_millis(50);

/// Run `work` detached from the interpreter, in its own pool of threads.
///
/// The calling thread wakes every 50 ms: it checks signals (which only works
/// there, not in a worker) and hands `progress(done, total, n_nonzero)` on. On
/// Ctrl-C, or when `progress` raises, the workers are asked to stop and joined
/// before the exception leaves.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    n_threads: usize,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    let control = Control::default();
    let (result, interrupt) = py.detach(|| {
        std::thread::scope(|scope| {
            let (finished, wait) = channel();
            let control = &control;
            let work = move || {
                let result = parallel::with_pool(n_threads, || work(control));
                // The receiver is gone only if the caller's thread panicked.
                let _ = finished.send(());
                result
            };
            let worker = match Builder::new().spawn_scoped(scope, work) {
                Ok(worker) => worker,
                Err(e) => {
                    let reason = e.to_string();
                    return (Ok(Err(Error::Threads { n_threads, reason })), None);
                }
            };
            let mut interrupt = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(POLL) {
                if interrupt.is_none()
                    && let Err(error) = Python::attach(|py| poll(py, progress, control))
                {
                    control.cancel();
                    interrupt = Some(error);
                }
            }
            (worker.join(), interrupt)
        })
    });
    if let Some(error) = interrupt {
        return Err(error);
    }
    match result {
        Ok(Ok(value)) => {
            if let Some(progress) = progress {
                report(py, progress, &control)?;
            }
            Ok(value)
        }
        Ok(Err(error)) => Err(to_py(py, error)),
        Err(_) => Err(PyRuntimeError::new_err(
            "internal error: a worker panicked (its message is on stderr); please report it",
        )),
    }
}

fn poll(py: Python<'_>, progress: Option<&Py<PyAny>>, control: &Control) -> PyResult<()> {
    py.check_signals()?;
    progress.map_or(Ok(()), |callback| report(py, callback, control))
}

fn report(py: Python<'_>, progress: &Py<PyAny>, control: &Control) -> PyResult<()> {
    let (done, total, n_nonzero) = control.progress();
    progress.call1(py, (done, total, n_nonzero)).map(drop)
}

/// Run small work on the calling thread, without the door's 90 microseconds.
pub(crate) fn run_here<T>(py: Python<'_>, work: impl FnOnce(&Control) -> Result<T>) -> PyResult<T> {
    work(&Control::default()).map_err(|error: Error| to_py(py, error))
}

/// Number of CPUs that this process may use (affinity and cgroup counted in).
#[pyfunction]
pub(crate) fn available_threads() -> usize {
    parallel::available_threads()
}
