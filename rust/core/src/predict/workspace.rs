//! Buffers that wait for the next call.

use std::sync::Mutex;

use super::beam::BeamWorkspace;
use super::ensemble::Mean;
use super::flat::FlatWorkspace;
use super::margins::Row;
use super::top_k::TopK;

/// One thread's buffers. Between rows they hold nothing that counts.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) row: Row,
    pub(super) flat: FlatWorkspace,
    pub(super) beam: BeamWorkspace,
    pub(super) mean: Mean,
    pub(super) best: TopK,
}

/// Workspaces that nobody uses at the moment.
///
/// Some are as long as the labels: a call for one row must not pay for that.
/// Nobody ever waits for the list: whoever finds it locked (in a forked child it
/// may stay so) does without it.
#[derive(Debug, Default)]
pub(super) struct Workspaces(Mutex<Vec<Workspace>>);

impl Workspaces {
    /// More than this many are not kept: only calls of few rows need them.
    const KEPT: usize = 8;

    pub(super) fn take(&self, or_new: impl FnOnce() -> Workspace) -> Workspace {
        let kept = self.0.try_lock().ok().and_then(|mut list| list.pop());
        kept.unwrap_or_else(or_new)
    }

    /// Keep a workspace for the next one. One that an error or a panic left in
    /// the middle of a row must not come back.
    pub(super) fn give_back(&self, workspace: Workspace) {
        if let Ok(mut list) = self.0.try_lock()
            && list.len() < Self::KEPT
        {
            list.push(workspace);
        }
    }
}
