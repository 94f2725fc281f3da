//! Trees and classifiers as byte streams: the one place that knows the layout.
//!
//! Ids are ascending nearly everywhere, so they are kept as differences. Format
//! version 2 codes them, and the floats, in the `numbers` module's bits; version
//! 1, which is still read, in the `varint` module's bytes and plain floats.
//! Decoding trusts nothing: every count is bounded by the bits that follow it.

use super::numbers::{Decoder, Encoder, N_SIZES, context};
use super::streams::{Floats, Integers, Plain};
use super::varint::Reader;
use super::{Entry, NodeClassifiers, TrainedTree};
use crate::tree::{Child, LabelTree};
use crate::{Error, Result};

/// Contexts of the tree's stream: numbers of children; children.
const N_TREE: usize = 2;
/// Of the features' stream: numbers of features; lengths of runs; ids, by size.
const N_FEATURES: usize = 2 + N_SIZES;

/// The streams of one tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Streams {
    /// Per node: number of children, then per child 0 for the next internal node
    /// or 1 + the zigzag difference to the label before it in the node.
    pub(super) tree: Vec<u8>,
    /// Per node: number of features, then per feature the difference to the one
    /// before (less 1, except the first) and the length of its run less 1.
    pub(super) features: Vec<u8>,
    /// Per run: the children, as differences like features.
    pub(super) children: Vec<u8>,
    /// Per run: the weights.
    pub(super) weights: Vec<u8>,
    /// A bit per problem, least first: whether its intercept is not zero. Empty
    /// when all are zero.
    pub(super) intercept_mask: Vec<u8>,
    /// The intercepts that are not zero: f64 of depth one, else as the weights.
    pub(super) intercepts: Vec<u8>,
}

/// How the bytes of the streams are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// Version 1. Intercepts are f32 if this says so.
    Bytes { narrow_intercepts: bool },
    /// Version 2.
    Bits,
}

/// Write a tree into the streams of version 2. Cost: a few passes.
pub(super) fn encode(trained: &TrainedTree) -> Streams {
    let label_tree = trained.tree();
    let mut tree = Encoder::new(N_TREE);
    for node in 0..label_tree.n_nodes() {
        tree.put(0, label_tree.children(node).len() as u64);
        let mut last = 0i64;
        for child in label_tree.children(node) {
            match child {
                Child::Node(_) => tree.put(1, 0),
                Child::Label(id) => {
                    let step = i64::from(id) - last;
                    tree.put(1, 1 + (step << 1 ^ step >> 63) as u64);
                    last = i64::from(id);
                }
            }
        }
    }
    let mut features = Encoder::new(N_FEATURES);
    let mut children = Encoder::new(N_SIZES);
    let mut weights = Vec::new();
    for node in trained.nodes() {
        let (ids, n_children) = (node.features(), node.n_children());
        features.put(0, ids.len() as u64);
        let mut next = 0;
        for (&feature, w) in ids.iter().zip(node.offsets().windows(2)) {
            let run = &node.entries()[w[0] as usize..w[1] as usize];
            features.put(2 + context(ids.len()), u64::from(feature) - next);
            features.put(1, run.len() as u64 - 1);
            next = u64::from(feature) + 1;
            let mut next_child = 0;
            for (at, e) in run.iter().enumerate() {
                let of = gap_context(n_children, next_child, run.len() - at);
                children.put(of, u64::from(e.child) - next_child);
                next_child = u64::from(e.child) + 1;
            }
            weights.extend(run.iter().map(|e| e.weight));
        }
    }
    let mut intercept_mask = Vec::new();
    let mut intercepts = Vec::new();
    let all = trained.nodes().iter().flat_map(NodeClassifiers::intercepts);
    for (problem, &b) in all.enumerate() {
        if problem % 8 == 0 {
            intercept_mask.push(0);
        }
        if b != 0.0 {
            intercept_mask[problem / 8] |= 1 << (problem % 8);
            intercepts.push(b);
        }
    }
    if intercepts.is_empty() {
        intercept_mask.clear();
    }
    let intercepts = if is_wide(trained.nodes().len()) {
        intercepts.iter().flat_map(|b| b.to_le_bytes()).collect()
    } else {
        let narrow: Vec<f32> = intercepts.iter().map(|&b| b as f32).collect();
        Encoder::floats(&narrow)
    };
    Streams {
        tree: tree.finish(),
        features: features.finish(),
        children: children.finish(),
        weights: Encoder::floats(&weights),
        intercept_mask,
        intercepts,
    }
}

/// The context of the gap before the next of `n_left` children: by the gap's mean
/// if they spread evenly over those not before `next`.
#[inline]
fn gap_context(n_children: usize, next: u64, n_left: usize) -> usize {
    context(n_children.saturating_sub(next as usize) / n_left)
}

/// Intercepts of depth one are f64, others were rounded when the tree was built.
fn is_wide(n_nodes: usize) -> bool {
    n_nodes == 1
}

/// Read what [`encode`] wrote, or version 1 did.
///
/// # Errors
/// [`Error::Format`] naming the section that is broken, [`Error::Data`] where
/// the parts make no tree or no classifiers.
pub(super) fn decode(
    streams: &Streams,
    coding: Coding,
    n_labels: usize,
    prefix: &str,
) -> Result<TrainedTree> {
    let names = [
        "tree",
        "features",
        "children",
        "weights",
        "intercept_mask",
        "intercepts",
    ];
    let names = names.map(|part| format!("{prefix}.{part}"));
    let [tree, features, children, weights, mask, intercepts] = names.each_ref().map(|n| &n[..]);
    let bytes = &streams.intercepts[..];
    match coding {
        Coding::Bytes { narrow_intercepts } => {
            let tree = decode_tree(Reader::new(tree, &streams.tree), n_labels)?;
            let intercepts = if narrow_intercepts {
                let floats = Plain::new(intercepts, bytes);
                decode_intercepts(&streams.intercept_mask, floats, &tree, mask)?
            } else {
                decode_wide(&streams.intercept_mask, bytes, &tree, mask)?
            };
            let weights = Plain::new(weights, &streams.weights);
            let features = Reader::new(features, &streams.features);
            let children = Reader::new(children, &streams.children);
            decode_nodes(tree, features, children, weights, intercepts)
        }
        Coding::Bits => {
            let tree = decode_tree(Decoder::new(tree, &streams.tree, N_TREE)?, n_labels)?;
            let intercepts = if is_wide(tree.n_nodes()) {
                decode_wide(&streams.intercept_mask, bytes, &tree, mask)?
            } else {
                let floats = Decoder::floats(intercepts, bytes)?;
                decode_intercepts(&streams.intercept_mask, floats, &tree, mask)?
            };
            let weights = Decoder::floats(weights, &streams.weights)?;
            let features = Decoder::new(features, &streams.features, N_FEATURES)?;
            let children = Decoder::new(children, &streams.children, N_SIZES)?;
            decode_nodes(tree, features, children, weights, intercepts)
        }
    }
}

fn decode_nodes(
    tree: LabelTree,
    mut features: impl Integers,
    mut children: impl Integers,
    mut weights: impl Floats,
    intercepts: Vec<f64>,
) -> Result<TrainedTree> {
    let mut intercepts = intercepts.into_iter();
    let mut nodes = Vec::with_capacity(tree.n_nodes());
    for node in 0..tree.n_nodes() {
        let n_children = tree.children(node).len();
        let n_features = features.take_count(0)?;
        let mut ids = Vec::with_capacity(n_features);
        let mut offsets = Vec::with_capacity(n_features + 1);
        let mut entries = Vec::new();
        offsets.push(0);
        let by_features = 2 + context(n_features);
        let mut next = 0;
        for _ in 0..n_features {
            ids.push(features.take_sorted(by_features, &mut next)?);
            let length = features.take(1)?;
            if length >= n_children as u64 || length >= children.n_left() {
                return Err(features.error("announces more weights than there are"));
            }
            let mut next_child = 0;
            for at in 0..=length {
                let of = gap_context(n_children, next_child, (length + 1 - at) as usize);
                let child = children.take_sorted(of, &mut next_child)?;
                let weight = weights.take()?;
                entries.push(Entry { child, weight });
            }
            offsets.push(entries.len() as u32);
        }
        let own = intercepts.by_ref().take(n_children).collect();
        nodes.push(NodeClassifiers::from_parts(ids, offsets, entries, own)?);
    }
    features.finish()?;
    children.finish()?;
    weights.finish()?;
    TrainedTree::new(tree, nodes)
}

fn decode_tree(mut stream: impl Integers, n_labels: usize) -> Result<LabelTree> {
    const LABEL_BIT: u32 = 1 << 31;
    let mut child_ptr = vec![0];
    let mut children = Vec::new();
    let (mut n_nodes, mut n_seen) = (1u32, 0);
    while child_ptr.len() <= n_nodes as usize {
        let mut last = 0i64;
        for _ in 0..stream.take_count(0)? {
            let code = stream.take(1)?;
            if let Some(zigzag) = code.checked_sub(1) {
                let step = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
                last = last
                    .checked_add(step)
                    .filter(|id| (0..i64::from(LABEL_BIT)).contains(id))
                    .ok_or_else(|| stream.error("holds a label outside [0, 2^31)"))?;
                children.push(last as u32 | LABEL_BIT);
                n_seen += 1;
            } else {
                children.push(n_nodes);
                n_nodes += 1;
            }
        }
        child_ptr.push(children.len() as u32);
    }
    stream.finish()?;
    // Before anything of that size is allocated.
    if n_seen != n_labels {
        return Err(stream.error(&format!(
            "holds {n_seen} labels, the header says {n_labels}"
        )));
    }
    LabelTree::from_parts(n_labels, child_ptr, children)
}

/// One intercept per problem of the tree: 0 where the mask has no bit.
fn decode_intercepts(
    mask: &[u8],
    mut floats: impl Floats,
    tree: &LabelTree,
    name: &str,
) -> Result<Vec<f64>> {
    let mut out = vec![0.0; tree.n_problems()];
    for problem in set_bits(mask, out.len(), name)? {
        out[problem] = f64::from(floats.take()?);
    }
    floats.finish()?;
    Ok(out)
}

/// As [`decode_intercepts`], of f64.
fn decode_wide(mask: &[u8], bytes: &[u8], tree: &LabelTree, name: &str) -> Result<Vec<f64>> {
    let mut out = vec![0.0; tree.n_problems()];
    let problems = set_bits(mask, out.len(), name)?;
    let (values, rest) = bytes.as_chunks();
    if values.len() != problems.len() || !rest.is_empty() {
        let text = format!("section {name}: does not fit the intercepts");
        return Err(Error::format(text));
    }
    for (problem, &value) in problems.into_iter().zip(values) {
        out[problem] = f64::from_le_bytes(value);
    }
    Ok(out)
}

/// Which of `n` bits are set; no bytes: none.
fn set_bits(mask: &[u8], n: usize, name: &str) -> Result<Vec<usize>> {
    let is_set = |&bit: &usize| mask[bit / 8] >> (bit % 8) & 1 == 1;
    if !mask.is_empty() && mask.len() != n.div_ceil(8)
        || (n..8 * mask.len()).any(|bit| is_set(&bit))
    {
        let text = format!("section {name}: does not fit the tree's {n} problems");
        return Err(Error::format(text));
    }
    Ok((0..n.min(8 * mask.len())).filter(is_set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ChildWeights;

    const LABEL: u32 = 1 << 31;

    /// Root over node 1 and label 2; node 1 over labels 4, 0, 1, 3.
    fn trained() -> TrainedTree {
        let children = vec![1, LABEL | 2, LABEL | 4, LABEL, LABEL | 1, LABEL | 3];
        let tree = LabelTree::from_parts(5, vec![0, 2, 6], children).unwrap();
        let child = |indices, values, intercept| ChildWeights {
            indices,
            values,
            intercept,
        };
        let nodes = [
            NodeClassifiers::from_problems([
                child(&[0, 700], &[1.0f32, -2.0], 0.5),
                child(&[700], &[3.0], 0.0),
            ]),
            NodeClassifiers::from_problems([
                child(&[], &[], 0.0),
                child(&[5], &[0.25], -1.0),
                child(&[], &[], 0.0),
                child(&[5, 6], &[1.5, 2.5], 0.0),
            ]),
        ];
        TrainedTree::new(tree, nodes.map(Result::unwrap).into()).unwrap()
    }

    fn version_1() -> Streams {
        let floats = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Streams {
            // zigzag steps: 2 is +2 -> 4; then 4: +4 -> 8, 0: -4 -> 7, 1: +1 -> 2, 3: +2 -> 4
            tree: vec![2, 0, 1 + 4, 4, 1 + 8, 1 + 7, 1 + 2, 1 + 4],
            // 699 = 0b101_0111011: two bytes
            features: vec![2, 0, 0, 0x80 | 0x3b, 5, 1, 2, 5, 1, 0, 0],
            children: vec![0, 0, 0, 1, 1, 3],
            weights: floats(&[1.0, -2.0, 3.0, 0.25, 1.5, 2.5]),
            intercept_mask: vec![0b1001],
            intercepts: floats(&[0.5, -1.0]),
        }
    }

    const BYTES: Coding = Coding::Bytes {
        narrow_intercepts: true,
    };

    #[test]
    fn version_1_is_read_as_documented() {
        // 699 is 0x3b + 5 * 128: the layout, byte by byte.
        assert_eq!(decode(&version_1(), BYTES, 5, "t").unwrap(), trained());
    }

    #[test]
    fn what_is_written_is_read() {
        let streams = encode(&trained());
        assert_eq!(decode(&streams, Coding::Bits, 5, "t").unwrap(), trained());
        // Depth one: intercepts are f64.
        let node = NodeClassifiers::from_problems([ChildWeights {
            indices: &[3],
            values: &[0.1],
            intercept: 0.1,
        }]);
        let flat = TrainedTree::new(LabelTree::flat(1).unwrap(), vec![node.unwrap()]).unwrap();
        let streams = encode(&flat);
        assert_eq!(streams.intercepts, 0.1f64.to_le_bytes());
        assert_eq!(decode(&streams, Coding::Bits, 1, "t").unwrap(), flat);
    }

    /// Counts that no bits back are refused before anything is allocated.
    #[test]
    fn bombs_are_refused() {
        let huge = |n_contexts| {
            let mut numbers = Encoder::new(n_contexts);
            numbers.put(0, 1 << 39);
            numbers.finish()
        };
        let bomb = |change: &dyn Fn(&mut Streams)| {
            let mut streams = encode(&trained());
            change(&mut streams);
            let e = decode(&streams, Coding::Bits, 5, "t").unwrap_err();
            e.to_string()
        };
        let e = bomb(&|s| s.tree = huge(N_TREE));
        assert!(e.contains("section t.tree: ends before"), "{e}");
        let e = bomb(&|s| s.features = huge(N_FEATURES));
        assert!(e.contains("section t.features: ends before"), "{e}");
        let e = bomb(&|s| {
            // One feature, with a run as long as can be.
            let mut numbers = Encoder::new(N_FEATURES);
            numbers.put(0, 1);
            numbers.put(3, 0);
            numbers.put(1, (1 << 40) - 1);
            s.features = numbers.finish();
        });
        assert!(e.contains("more weights than there are"), "{e}");
        let e = bomb(&|s| s.children = huge(N_SIZES));
        assert!(e.contains("section t.children"), "{e}");
        let streams = encode(&trained());
        let e = decode(&streams, Coding::Bits, 1 << 40, "t").unwrap_err();
        assert!(e.to_string().contains("holds 5 labels"), "{e}");
        let mut version_1 = version_1();
        version_1.features = vec![0xff, 0xff, 0xff, 0xff, 0x0f];
        let e = decode(&version_1, BYTES, 5, "t").unwrap_err().to_string();
        assert!(e.contains("section t.features: ends before"), "{e}");
    }

    /// Every change of one byte, every cut, every byte too many: an error or
    /// another sound model, never a panic.
    #[test]
    fn broken_streams_never_panic() {
        let parts: [fn(&mut Streams) -> &mut Vec<u8>; 6] = [
            |s| &mut s.tree,
            |s| &mut s.features,
            |s| &mut s.children,
            |s| &mut s.weights,
            |s| &mut s.intercept_mask,
            |s| &mut s.intercepts,
        ];
        for (streams, coding) in [(encode(&trained()), Coding::Bits), (version_1(), BYTES)] {
            for part in parts {
                for at in 0..part(&mut streams.clone()).len() {
                    for byte in 0..=255 {
                        let mut broken = streams.clone();
                        part(&mut broken)[at] = byte;
                        let _ = decode(&broken, coding, 5, "t");
                    }
                    let mut cut = streams.clone();
                    part(&mut cut).truncate(at);
                    assert!(decode(&cut, coding, 5, "t").is_err(), "{coding:?} {at}");
                }
                let mut longer = streams.clone();
                part(&mut longer).push(0);
                assert!(decode(&longer, coding, 5, "t").is_err());
            }
            for mask in 0..=255u8 {
                let mut broken = streams.clone();
                broken.intercept_mask[0] = mask;
                // Two intercepts, six problems.
                let sound = mask.count_ones() == 2 && mask < 64;
                assert_eq!(decode(&broken, coding, 5, "t").is_ok(), sound, "{mask:b}");
            }
        }
        for value in [f32::NAN, f32::INFINITY, 0.0] {
            let mut broken = version_1();
            broken.weights[8..12].copy_from_slice(&value.to_le_bytes());
            assert!(decode(&broken, BYTES, 5, "t").is_err());
            let mut broken = encode(&trained());
            broken.weights = Encoder::floats(&[1.0, -2.0, value, 0.25, 1.5, 2.5]);
            assert!(decode(&broken, Coding::Bits, 5, "t").is_err());
        }
    }
}
