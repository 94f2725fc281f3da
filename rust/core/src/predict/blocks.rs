//! Blocks of rows over threads.

use std::sync::{Mutex, PoisonError};

use crate::Result;

/// Rows handed to a thread at once.
pub(super) const ROWS: usize = 64;

/// Work through `items`, each by whichever thread is free.
///
/// Inside a pool all its threads take part; elsewhere the calling thread works
/// alone, so that small calls start none. Each worker owns one workspace, which
/// goes to `done` unless work failed. An item's result must not depend on the
/// workspace's past.
///
/// # Errors
/// The first error among the workers.
pub(super) fn run<T, W>(
    items: impl Iterator<Item = T> + Send,
    workspace: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, T) -> Result<()> + Sync,
    done: impl Fn(W) + Sync,
) -> Result<()> {
    let queue = Mutex::new(items);
    let worker = || {
        let mut workspace = workspace();
        loop {
            let item = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            match item {
                Some(item) => work(&mut workspace, item)?,
                None => break,
            }
        }
        done(workspace);
        Ok(())
    };
    match rayon::current_thread_index() {
        None => worker(),
        Some(_) => rayon::broadcast(|_| worker()).into_iter().collect(),
    }
}
