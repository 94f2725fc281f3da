//! Threads, cancelling and progress, without any global state.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{Error, Result};

/// Threads beyond this many only cost memory: an argument above it is lowered.
pub const MAX_THREADS: usize = 256;

/// What a running job and its caller tell each other.
///
/// The caller sets `cancel` and reads the counters; workers look at `cancel` at
/// least every 100 ms and add to the counters. No worker ever calls back.
#[derive(Debug, Default)]
pub struct Control {
    cancel: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
    n_nonzero: AtomicU64,
}

impl Control {
    /// Ask all workers to stop.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether the caller asked to stop.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// `Err(Cancelled)` once the caller asked to stop.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            Err(Error::Cancelled)
        } else {
            Ok(())
        }
    }

    /// State how many units of work there are.
    pub fn set_total(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }

    /// Count one finished unit of work and the weights it left.
    pub fn add_done(&self, n_nonzero: u64) {
        self.n_nonzero.fetch_add(n_nonzero, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// (finished units, all units, weights so far).
    pub fn progress(&self) -> (u64, u64, u64) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
            self.n_nonzero.load(Ordering::Relaxed),
        )
    }
}

/// CPUs this process may use: affinity and cgroup limits counted in.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Run `work` inside a pool of `n_threads` built for this call alone.
///
/// No pool outlives the call: one kept in the process would leave forked
/// children waiting for threads that they do not have.
///
/// # Errors
/// Those of `work`; [`Error::Threads`] when threads cannot be started.
pub fn with_pool<T: Send>(n_threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads.clamp(1, MAX_THREADS))
        .build()
        .map_err(|e| Error::Threads {
            n_threads,
            reason: e.to_string(),
        })?
        .install(work)
}

/// CPU seconds that the calling thread has used since it started.
#[cfg(unix)]
pub fn thread_cpu_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a live timespec of our own.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    if failed == 0 {
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    } else {
        f64::NAN
    }
}

/// Seconds on the wall, where the system has no clock per thread.
#[cfg(not(unix))]
pub fn thread_cpu_seconds() -> f64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
