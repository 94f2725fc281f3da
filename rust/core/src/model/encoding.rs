//! Trees and classifiers as byte streams: the one place that knows the layout.
//!
//! Ids are ascending nearly everywhere, so they are kept as differences in the
//! `varint` module's numbers: mostly one byte each. A weight takes
//! four bytes, its child one or two, a feature of a node two with its run's
//! length. Decoding trusts nothing: every count is bounded by the bytes that
//! follow it.

use super::varint::{Reader, put, put_sorted};
use super::{Entry, NodeClassifiers, TrainedTree};
use crate::tree::{Child, LabelTree};
use crate::{Error, Result};

/// The streams of one tree.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Streams {
    /// Per node: number of children, then per child 0 for the next internal node
    /// or 1 + the zigzag difference to the label before it in the node.
    pub(super) tree: Vec<u8>,
    /// Per node: number of features, then per feature the difference to the one
    /// before (less 1, except the first) and the length of its run less 1.
    pub(super) features: Vec<u8>,
    /// Per run: the children, coded like features.
    pub(super) children: Vec<u8>,
    /// Per run: the weights.
    pub(super) weights: Vec<f32>,
    /// A bit per problem, least first: whether its intercept is not zero. Empty
    /// when all are zero.
    pub(super) intercept_mask: Vec<u8>,
    /// The intercepts that are not zero.
    pub(super) intercepts: Vec<f64>,
}

/// Write a tree into streams. Cost: one pass.
pub(super) fn encode(trained: &TrainedTree) -> Streams {
    let mut out = Streams::default();
    let tree = trained.tree();
    for node in 0..tree.n_nodes() {
        put(&mut out.tree, tree.children(node).len() as u64);
        let mut last = 0i64;
        for child in tree.children(node) {
            match child {
                Child::Node(_) => put(&mut out.tree, 0),
                Child::Label(id) => {
                    let step = i64::from(id) - last;
                    put(&mut out.tree, 1 + (step << 1 ^ step >> 63) as u64);
                    last = i64::from(id);
                }
            }
        }
    }
    for node in trained.nodes() {
        put(&mut out.features, node.features().len() as u64);
        let mut next = 0;
        for (&feature, w) in node.features().iter().zip(node.offsets().windows(2)) {
            let run = &node.entries()[w[0] as usize..w[1] as usize];
            put(&mut out.features, u64::from(feature) - next);
            put(&mut out.features, run.len() as u64 - 1);
            next = u64::from(feature) + 1;
            put_sorted(&mut out.children, run.iter().map(|e| e.child));
            out.weights.extend(run.iter().map(|e| e.weight));
        }
    }
    let intercepts = trained.nodes().iter().flat_map(NodeClassifiers::intercepts);
    for (problem, &b) in intercepts.enumerate() {
        if problem % 8 == 0 {
            out.intercept_mask.push(0);
        }
        if b != 0.0 {
            out.intercept_mask[problem / 8] |= 1 << (problem % 8);
            out.intercepts.push(b);
        }
    }
    if out.intercepts.is_empty() {
        out.intercept_mask.clear();
    }
    out
}

/// Read what [`encode`] wrote.
///
/// # Errors
/// [`Error::Format`] naming the section that is broken, [`Error::Data`] where
/// the parts make no tree or no classifiers.
pub(super) fn decode(streams: &Streams, n_labels: usize, prefix: &str) -> Result<TrainedTree> {
    let name = |part: &str| format!("{prefix}.{part}");
    let tree = decode_tree(Reader::new(&name("tree"), &streams.tree), n_labels)?;
    let (features_name, children_name) = (name("features"), name("children"));
    let mut features = Reader::new(&features_name, &streams.features);
    let mut children = Reader::new(&children_name, &streams.children);
    let mut weights = streams.weights.iter();
    let intercepts = decode_intercepts(streams, tree.n_problems(), &name("intercept_mask"))?;
    let mut intercepts = intercepts.into_iter();
    let mut nodes = Vec::with_capacity(tree.n_nodes());
    for node in 0..tree.n_nodes() {
        let n_features = features.take_count()?;
        let mut ids = Vec::with_capacity(n_features);
        let mut offsets = Vec::with_capacity(n_features + 1);
        let mut entries = Vec::new();
        offsets.push(0);
        let mut next = 0;
        for _ in 0..n_features {
            ids.push(features.take_sorted(&mut next)?);
            let length = features.take()?;
            if length >= weights.len() as u64 {
                return Err(features.error("announces more weights than there are"));
            }
            let mut next_child = 0;
            for &weight in weights.by_ref().take(length as usize + 1) {
                let child = children.take_sorted(&mut next_child)?;
                entries.push(Entry { child, weight });
            }
            offsets.push(entries.len() as u32);
        }
        let own = intercepts.by_ref().take(tree.children(node).len());
        nodes.push(NodeClassifiers::from_parts(
            ids,
            offsets,
            entries,
            own.collect(),
        )?);
    }
    features.finish()?;
    children.finish()?;
    if weights.len() > 0 {
        return Err(features.error("leaves weights over"));
    }
    TrainedTree::new(tree, nodes)
}

fn decode_tree(mut stream: Reader<'_>, n_labels: usize) -> Result<LabelTree> {
    const LABEL_BIT: u32 = 1 << 31;
    let mut child_ptr = vec![0];
    let mut children = Vec::new();
    let (mut n_nodes, mut n_seen) = (1u32, 0);
    while !stream.is_empty() {
        let mut last = 0i64;
        for _ in 0..stream.take_count()? {
            let code = stream.take()?;
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
    // Before anything of that size is allocated.
    if n_seen != n_labels {
        return Err(stream.error(&format!(
            "holds {n_seen} labels, the header says {n_labels}"
        )));
    }
    LabelTree::from_parts(n_labels, child_ptr, children)
}

fn decode_intercepts(streams: &Streams, n_problems: usize, name: &str) -> Result<Vec<f64>> {
    let mask = &streams.intercept_mask;
    let mut out = vec![0.0; n_problems];
    if mask.is_empty() && streams.intercepts.is_empty() {
        return Ok(out);
    }
    let n_set: usize = mask.iter().map(|b| b.count_ones() as usize).sum();
    let set = |problem: usize| mask[problem / 8] >> (problem % 8) & 1 == 1;
    if mask.len() != n_problems.div_ceil(8)
        || n_set != streams.intercepts.len()
        || (n_problems..8 * mask.len()).any(set)
    {
        return Err(Error::format(format!(
            "section {name}: {n_set} bits for {n_problems} problems and {} intercepts",
            streams.intercepts.len()
        )));
    }
    let targets = out.iter_mut().enumerate().filter(|&(p, _)| set(p));
    for ((_, to), &b) in targets.zip(&streams.intercepts) {
        *to = b;
    }
    Ok(out)
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

    /// The layout of format version 1, byte by byte.
    #[test]
    fn streams_are_as_documented() {
        let streams = encode(&trained());
        // zigzag steps: 2 is +2 -> 4; then 4: +4 -> 8, 0: -4 -> 7, 1: +1 -> 2, 3: +2 -> 4
        assert_eq!(streams.tree, [2, 0, 1 + 4, 4, 1 + 8, 1 + 7, 1 + 2, 1 + 4]);
        // 699 = 0b101_0111011: two bytes
        let features = [2, 0, 0, 0x80 | 0x3b, 5, 1, 2, 5, 1, 0, 0];
        assert_eq!(streams.features, features);
        assert_eq!(streams.children, [0, 0, 0, 1, 1, 3]);
        assert_eq!(streams.weights, [1.0, -2.0, 3.0, 0.25, 1.5, 2.5]);
        assert_eq!(streams.intercept_mask, [0b1001]);
        assert_eq!(streams.intercepts, [0.5, -1.0]);
    }

    #[test]
    fn what_is_written_is_read() {
        let streams = encode(&trained());
        assert_eq!(decode(&streams, 5, "t").unwrap(), trained());
    }

    /// Counts that no bytes back are refused before anything is allocated.
    #[test]
    fn bombs_are_refused() {
        let mut huge = Vec::new();
        put(&mut huge, 1 << 60);
        let bomb = |change: fn(&mut Streams, Vec<u8>)| {
            let mut streams = encode(&trained());
            change(&mut streams, huge.clone());
            decode(&streams, 5, "t").unwrap_err().to_string()
        };
        let e = bomb(|s, huge| s.tree = huge);
        assert!(e.contains("section t.tree"), "{e}");
        let e = bomb(|s, huge| s.features = huge);
        assert!(e.contains("section t.features"), "{e}");
        let e = bomb(|s, huge| s.features.splice(2..3, huge).for_each(drop));
        assert!(e.contains("more weights than there are"), "{e}");
        let e = bomb(|s, huge| s.children.splice(0..1, huge).for_each(drop));
        assert!(e.contains("section t.children"), "{e}");
        let streams = encode(&trained());
        let e = decode(&streams, 1 << 40, "t").unwrap_err().to_string();
        assert!(e.contains("holds 5 labels"), "{e}");
    }

    /// Every change of one byte, every cut, every byte too many: an error or
    /// another sound model, never a panic.
    #[test]
    fn broken_streams_never_panic() {
        let streams = encode(&trained());
        let parts: [fn(&mut Streams) -> &mut Vec<u8>; 4] = [
            |s| &mut s.tree,
            |s| &mut s.features,
            |s| &mut s.children,
            |s| &mut s.intercept_mask,
        ];
        let copy = || Streams {
            tree: streams.tree.clone(),
            features: streams.features.clone(),
            children: streams.children.clone(),
            weights: streams.weights.clone(),
            intercept_mask: streams.intercept_mask.clone(),
            intercepts: streams.intercepts.clone(),
        };
        for part in parts {
            for at in 0..part(&mut copy()).len() {
                for byte in 0..=255 {
                    let mut broken = copy();
                    part(&mut broken)[at] = byte;
                    let _ = decode(&broken, 5, "t");
                }
                let mut cut = copy();
                part(&mut cut).truncate(at);
                assert!(decode(&cut, 5, "t").is_err());
            }
            let mut longer = copy();
            part(&mut longer).push(0);
            assert!(decode(&longer, 5, "t").is_err());
        }
        for mask in 0..=255u8 {
            let mut broken = copy();
            broken.intercept_mask[0] = mask;
            // Two intercepts, six problems.
            let sound = mask.count_ones() == 2 && mask < 64;
            assert_eq!(decode(&broken, 5, "t").is_ok(), sound, "{mask:b}");
        }
        for value in [f32::NAN, f32::INFINITY, 0.0] {
            let mut broken = copy();
            broken.weights[2] = value;
            assert!(decode(&broken, 5, "t").is_err());
        }
        let mut fewer = copy();
        fewer.weights.pop();
        assert!(decode(&fewer, 5, "t").is_err());
        let mut more = copy();
        more.weights.push(1.0);
        assert!(decode(&more, 5, "t").is_err());
    }
}
