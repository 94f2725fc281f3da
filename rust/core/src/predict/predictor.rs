//! The predictor: a model with what makes its look-ups fast.

use super::beam::{BeamWorkspace, Reach, Sink, Tree, search};
use super::blocks;
use super::ensemble::Mean;
use super::flat::{FlatIndex, FlatWorkspace};
use super::margins::Row;
use super::node::{Node, TreeIndex, node};
use super::top_k::{Candidate, TopK};
use super::workspace::{Workspace, Workspaces};
use crate::memory::check_room;
use crate::model::StoredModel;
use crate::parallel::Control;
use crate::sparse::{CsrView, Pattern};
use crate::{Error, Result};

/// A model ready to predict. Immutable: any number of threads may share it.
///
/// Every method gives the same bits for any number of threads and any way of
/// cutting the rows into calls, and works on the calling thread when called
/// outside a pool (see [`crate::parallel::with_pool`]).
#[derive(Debug)]
pub struct Predictor {
    pub(super) model: StoredModel,
    /// Of each tree.
    pub(super) index: Vec<TreeIndex>,
    road: Road,
    /// Which labels may be returned when some have no positives.
    trained: Option<Reach>,
    workspaces: Workspaces,
}

/// How rows become scores.
#[derive(Debug)]
enum Road {
    /// Depth one: exhaustive, no beam.
    Flat(FlatIndex),
    /// Beam search.
    Beam,
}

/// How far a tree is searched and what may be returned.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Internal nodes kept per level, at least 1; depth one has none to keep.
    pub beam_size: usize,
    /// Ids of the labels that may be returned; none: all.
    pub allowed: Option<&'a [u32]>,
}

/// The best labels of each row, best first, `k` places a row.
#[derive(Clone, Debug, PartialEq)]
pub struct TopLabels {
    /// Label ids; -1 where there are fewer than `k`.
    pub labels: Vec<i32>,
    /// Their scores; negative infinity where there are fewer.
    pub scores: Vec<f32>,
}

/// The labels of one row above a threshold.
struct Above<F> {
    above: F,
    labels: Vec<u32>,
}

impl<F: Fn(f32) -> bool> Sink for Above<F> {
    fn label(&mut self, candidate: Candidate) {
        if (self.above)(candidate.score) {
            self.labels.push(candidate.id);
        }
    }

    fn hopeless(&self, path: f32) -> bool {
        !(self.above)(path)
    }
}

impl Predictor {
    /// Build the look-ups of a model. Cost: a pass over its features, of a mapped
    /// model over its labels.
    ///
    /// # Errors
    /// [`Error::Format`] where the file of a mapped model is damaged.
    pub fn new(model: impl Into<StoredModel>) -> Result<Self> {
        let model = model.into();
        let index = TreeIndex::of(&model);
        let road = if model.is_flat() {
            let root = node(&model, &index, 0, 0)?;
            let intercepts = root.intercepts()?;
            Road::Flat(FlatIndex::new(model.tree(0), intercepts, model.untrained()))
        } else {
            Road::Beam
        };
        let trained = (!model.untrained().is_empty()).then(|| {
            let mut labels = vec![true; model.n_labels()];
            for &l in model.untrained() {
                labels[l as usize] = false;
            }
            Reach::new(&model, labels)
        });
        Ok(Self {
            model,
            index,
            road,
            trained,
            workspaces: Workspaces::default(),
        })
    }

    /// The model.
    pub fn model(&self) -> &StoredModel {
        &self.model
    }

    /// The `k` best labels of each row among those that may be returned.
    ///
    /// Ties go to the greater leaf margin, then to the smaller label. Labels
    /// without positives are never returned. `k` is not limited by the beam.
    /// Cost at depth one: the weights that a row touches; in a tree those of the
    /// nodes kept.
    ///
    /// # Errors
    /// [`Error::Data`] for `k = 0`, `beam_size = 0`, a wrong number of features,
    /// an allowed label that is none; [`Error::Format`] where the file of a mapped
    /// model is damaged; [`Error::Memory`]; [`Error::Cancelled`].
    pub fn top_k(
        &self,
        x: CsrView<'_>,
        k: usize,
        query: Query<'_>,
        control: &Control,
    ) -> Result<TopLabels> {
        if k == 0 {
            return Err(Error::data("k must be at least 1"));
        }
        self.check(x, query.beam_size)?;
        let n_labels = self.model.n_labels();
        let mask = query.allowed.map(|ids| mask(ids, n_labels)).transpose()?;
        check_room(
            format!("{} x {k} results", x.n_rows()),
            (x.n_rows() as u64)
                .saturating_mul(k as u64)
                .saturating_mul(8),
        )?;
        let mut labels = filled(x.n_rows(), k, -1)?;
        let mut scores = filled(x.n_rows(), k, f32::NEG_INFINITY)?;
        let step = k.saturating_mul(blocks::ROWS);
        let places = labels.chunks_mut(step).zip(scores.chunks_mut(step));
        let kept = k.min(n_labels);
        match &self.road {
            Road::Flat(flat) => {
                let node = self.root()?;
                let allowed = mask.map(|mask| flat.positions(&mask));
                self.each_row(x, places, control, |ws, i, place| {
                    ws.best.restart(kept);
                    let best = &mut ws.best;
                    flat.top_k(&node, &ws.row, allowed.as_deref(), &mut ws.flat, best)?;
                    self.write(&mut ws.best, k, i, place);
                    Ok(())
                })?;
            }
            Road::Beam => {
                let reach = mask.map(|mask| self.reach(mask));
                let reach = reach.as_ref().or(self.trained.as_ref());
                self.each_row(x, places, control, |ws, i, place| {
                    ws.best.restart(kept);
                    if self.is_one_tree() {
                        let (row, beam, best) = (&ws.row, &mut ws.beam, &mut ws.best);
                        self.search(0, reach, query.beam_size, row, beam, best)?;
                    } else {
                        let Workspace {
                            row,
                            beam,
                            mean,
                            best,
                            ..
                        } = ws;
                        let beam_size = query.beam_size;
                        self.mean(reach, beam_size, row, beam, mean, |c| best.offer(c))?;
                    }
                    self.write(&mut ws.best, k, i, place);
                    Ok(())
                })?;
            }
        }
        Ok(TopLabels { labels, scores })
    }

    /// The labels of each row whose score is above `threshold`, sorted; in a
    /// tree those that a beam of `beam_size` reaches.
    ///
    /// # Errors
    /// [`Error::Data`] for `beam_size = 0`, a threshold that is NaN, a wrong
    /// number of features; [`Error::Format`] where the file of a mapped model is
    /// damaged; [`Error::Cancelled`].
    pub fn above(
        &self,
        x: CsrView<'_>,
        threshold: f32,
        beam_size: usize,
        control: &Control,
    ) -> Result<Pattern> {
        if threshold.is_nan() {
            return Err(Error::data("threshold is not a number"));
        }
        self.check(x, beam_size)?;
        let scoring = self.model.scoring();
        let above = |path: f32| scoring.score(path) > threshold;
        let mut parts = vec![Pattern::default(); x.n_rows().div_ceil(blocks::ROWS)];
        self.each_row(x, parts.iter_mut(), control, |ws, _, part| {
            let first = part.indices.len();
            match &self.road {
                Road::Flat(flat) => {
                    let node = self.root()?;
                    let above = |z| above(scoring.step(z));
                    flat.above(&node, &ws.row, above, &mut ws.flat, &mut part.indices)?;
                }
                Road::Beam if self.is_one_tree() => {
                    let labels = std::mem::take(&mut part.indices);
                    let mut sink = Above { above, labels };
                    let (row, beam) = (&ws.row, &mut ws.beam);
                    let trained = self.trained.as_ref();
                    self.search(0, trained, beam_size, row, beam, &mut sink)?;
                    part.indices = sink.labels;
                }
                Road::Beam => {
                    let Workspace {
                        row, beam, mean, ..
                    } = ws;
                    let trained = self.trained.as_ref();
                    self.mean(trained, beam_size, row, beam, mean, |c| {
                        if c.score > threshold {
                            part.indices.push(c.id);
                        }
                    })?;
                }
            }
            part.indices[first..].sort_unstable();
            part.indptr.push(part.indices.len() as u64);
            Ok(())
        })?;
        let mut all = Pattern {
            n_cols: self.model.n_labels(),
            indptr: vec![0],
            indices: Vec::with_capacity(parts.iter().map(|p| p.indices.len()).sum()),
        };
        for part in parts {
            let start = all.indices.len() as u64;
            all.indptr.extend(part.indptr.iter().map(|p| start + p));
            all.indices.extend(part.indices);
        }
        Ok(all)
    }

    /// The margins of all labels, row after row: one-vs-rest only.
    ///
    /// # Errors
    /// [`Error::Data`] for a tree, a wrong number of features; [`Error::Format`]
    /// where the file of a mapped model is damaged; [`Error::Memory`]; [`Error::Cancelled`].
    pub fn decision_function(&self, x: CsrView<'_>, control: &Control) -> Result<Vec<f32>> {
        self.check(x, 1)?;
        let Road::Flat(flat) = &self.road else {
            return Err(Error::data(
                "decision_function needs a single tree of depth one; score_pairs serves trees",
            ));
        };
        let n_labels = self.model.n_labels();
        let node = self.root()?;
        let mut out = filled(x.n_rows(), n_labels, 0.0f32)?;
        let places = out.chunks_mut(n_labels.saturating_mul(blocks::ROWS));
        self.each_row(x, places, control, |ws, i, place| {
            let place = &mut place[i * n_labels..(i + 1) * n_labels];
            flat.decision(&node, &ws.row, &mut ws.flat, place)
        })?;
        Ok(out)
    }

    pub(super) fn check(&self, x: CsrView<'_>, beam_size: usize) -> Result<()> {
        if x.n_cols() != self.model.n_features() {
            return Err(Error::data(format!(
                "X has {} features, the model was trained on {}",
                x.n_cols(),
                self.model.n_features()
            )));
        }
        if beam_size == 0 {
            return Err(Error::data("beam_size must be at least 1"));
        }
        Ok(())
    }

    /// Whether rows need their tables.
    pub(super) fn hashed(&self) -> Result<bool> {
        match &self.road {
            Road::Flat(_) => self.root().map(|root| !root.is_direct()),
            Road::Beam => Ok(true),
        }
    }

    fn is_one_tree(&self) -> bool {
        self.index.len() == 1
    }

    /// The root of the first tree.
    fn root(&self) -> Result<Node<'_>> {
        node(&self.model, &self.index, 0, 0)
    }

    /// The mask of labels that may be returned, with the nodes above them.
    fn reach(&self, mut labels: Vec<bool>) -> Reach {
        for &l in self.model.untrained() {
            labels[l as usize] = false;
        }
        Reach::new(&self.model, labels)
    }

    /// Call `work(workspace, row within the block, its block's output)` for each row.
    fn each_row<O: Send>(
        &self,
        x: CsrView<'_>,
        outputs: impl Iterator<Item = O> + Send,
        control: &Control,
        work: impl Fn(&mut Workspace, usize, &mut O) -> Result<()> + Sync,
    ) -> Result<()> {
        let hashed = self.hashed()?;
        let workspace = || self.workspaces.take(|| self.workspace(hashed));
        let rows = |ws: &mut Workspace, (block, mut output): (usize, O)| {
            let start = block * blocks::ROWS;
            for i in start..x.n_rows().min(start + blocks::ROWS) {
                control.check()?;
                ws.row.load(x, i, self.model.normalize());
                work(ws, i - start, &mut output)?;
            }
            Ok(())
        };
        let done = |ws| self.workspaces.give_back(ws);
        blocks::run(outputs.enumerate(), workspace, rows, done)
    }

    fn workspace(&self, hashed: bool) -> Workspace {
        let n_labels = self.model.n_labels();
        let (flat, mean) = match &self.road {
            Road::Flat(_) => (n_labels, 0),
            Road::Beam if self.is_one_tree() => (0, 0),
            Road::Beam => (0, n_labels),
        };
        Workspace {
            row: Row::new(hashed),
            flat: FlatWorkspace::new(flat),
            beam: BeamWorkspace::default(),
            mean: Mean::new(self.model.scoring(), mean),
            best: TopK::default(),
        }
    }

    fn search(
        &self,
        t: usize,
        reach: Option<&Reach>,
        beam_size: usize,
        row: &Row,
        ws: &mut BeamWorkspace,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let tree = Tree {
            id: t,
            model: &self.model,
            index: &self.index,
            scoring: self.model.scoring(),
        };
        search(&tree, row, reach, beam_size, ws, sink)
    }

    /// Search all trees and hand out the labels with their mean scores.
    fn mean(
        &self,
        reach: Option<&Reach>,
        beam_size: usize,
        row: &Row,
        beam: &mut BeamWorkspace,
        mean: &mut Mean,
        each: impl FnMut(Candidate),
    ) -> Result<()> {
        let n_trees = self.index.len();
        for t in 0..n_trees {
            self.search(t, reach, beam_size, row, beam, mean)?;
        }
        mean.drain(n_trees, each);
        Ok(())
    }

    fn write(&self, best: &mut TopK, k: usize, i: usize, place: &mut (&mut [i32], &mut [f32])) {
        let scoring = self.model.scoring();
        let mut at = i * k;
        best.drain_sorted(|c| {
            place.0[at] = c.id as i32;
            place.1[at] = match &self.road {
                Road::Flat(_) => scoring.score(scoring.step(c.z)),
                Road::Beam if self.is_one_tree() => scoring.score(c.score),
                Road::Beam => c.score,
            };
            at += 1;
        });
    }
}

/// `rows * columns` copies of `value`, or an error where memory has no room.
fn filled<T: Clone>(rows: usize, columns: usize, value: T) -> Result<Vec<T>> {
    let bytes = (rows as u64)
        .saturating_mul(columns as u64)
        .saturating_mul(size_of::<T>() as u64);
    check_room(format!("{rows} x {columns} results"), bytes)?;
    Ok(vec![value; rows * columns])
}

/// Which of `n_labels` labels are among `ids`.
fn mask(ids: &[u32], n_labels: usize) -> Result<Vec<bool>> {
    let mut mask = vec![false; n_labels];
    for &id in ids {
        match mask.get_mut(id as usize) {
            Some(known) => *known = true,
            None => {
                return Err(Error::data(format!(
                    "allowed: label {id} is outside [0, {n_labels})"
                )));
            }
        }
    }
    Ok(mask)
}
