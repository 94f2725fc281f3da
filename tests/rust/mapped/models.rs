//! Seeded models, rows and all that a predictor says about them.

use std::ops::Range;

use proxtree_core::Result;
use proxtree_core::model::{
    ChildWeights, Description, Extra, LinearTreeModel, NodeClassifiers, Scoring, TrainedTree,
};
use proxtree_core::parallel::Control;
use proxtree_core::predict::{Predictor, Query, TopLabels};
use proxtree_core::sparse::{CsrMatrix, CsrView, Pattern};
use proxtree_core::tree::{Child, LabelTree};
use safetensors::SafeTensors;

const N_LABELS: usize = 70;
const N_FEATURES: u32 = 300;

/// A small linear congruential generator.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = step.wrapping_add(1);
        (self.0 >> 33) % n
    }
}

pub(crate) fn description() -> Description {
    Description {
        class_name: "K".to_owned(),
        settings: "{}".to_owned(),
        extra: vec![Extra {
            // As a large section is called, but none.
            name: "tree0.entries".to_owned(),
            dtype: "U8".to_owned(),
            shape: vec![3],
            bytes: vec![1, 2, 3],
        }],
    }
}

/// Every weight is there once in `density` times; two levels, or one if `flat`.
pub(crate) fn model(
    draw: &mut Draw,
    n_trees: usize,
    flat: bool,
    density: u64,
    n_untrained: u32,
) -> LinearTreeModel {
    let trees = (0..n_trees).map(|_| {
        let tree = if flat {
            LabelTree::flat(N_LABELS).unwrap()
        } else {
            let mut nodes = vec![vec![]];
            for label in 0..N_LABELS as u32 {
                if label == 0 || draw.below(12) == 0 {
                    nodes.push(vec![]);
                    let child = Child::Node(nodes.len() as u32 - 1);
                    nodes[0].push(child);
                }
                nodes.last_mut().unwrap().push(Child::Label(label));
            }
            LabelTree::from_children(N_LABELS, &nodes, 0).unwrap()
        };
        let nodes = (0..tree.n_nodes()).map(|i| node(draw, tree.children(i).len(), density));
        let nodes = nodes.collect();
        TrainedTree::new(tree, nodes).unwrap()
    });
    let trees: Vec<_> = trees.collect();
    let scoring = if flat && n_trees == 1 {
        Scoring::Margin
    } else {
        Scoring::Cubed
    };
    let normalize = draw.below(2) == 0;
    let untrained = (0..n_untrained).map(|l| 20 * l + 1).collect();
    LinearTreeModel::new(N_FEATURES as usize, trees, scoring, normalize, untrained).unwrap()
}

fn node(draw: &mut Draw, n_children: usize, density: u64) -> NodeClassifiers {
    let mut children = Vec::new();
    for _ in 0..n_children {
        let ids: Vec<u32> = (0..N_FEATURES)
            .filter(|_| draw.below(density) == 0)
            .collect();
        let weights: Vec<f32> = ids
            .iter()
            .map(|_| draw.below(997) as f32 / 333.0 - 1.5)
            .collect();
        children.push((ids, weights, draw.below(100) as f64 / 70.0 - 1.0));
    }
    let problems = children
        .iter()
        .map(|(indices, values, intercept)| ChildWeights {
            indices,
            values,
            intercept: *intercept,
        });
    NodeClassifiers::from_problems(problems).unwrap()
}

/// Labels 0 and 1 with weights (1, 0, -0.5) and (0, 0, 2), intercepts 0.25 and 0.
pub(crate) fn by_hand(n_features: usize) -> LinearTreeModel {
    let child = |indices, values, intercept| ChildWeights {
        indices,
        values,
        intercept,
    };
    let node = NodeClassifiers::from_problems([
        child(&[0, 2], &[1.0f32, -0.5], 0.25),
        child(&[2], &[2.0], 0.0),
    ]);
    let tree = TrainedTree::new(LabelTree::flat(2).unwrap(), vec![node.unwrap()]).unwrap();
    LinearTreeModel::new(n_features, vec![tree], Scoring::Margin, false, vec![]).unwrap()
}

/// Rows of many features, of few, of none.
pub(crate) fn matrix(draw: &mut Draw, n_features: usize) -> CsrMatrix {
    let mut x = CsrMatrix {
        pattern: Pattern {
            n_cols: n_features,
            indptr: vec![0],
            indices: Vec::new(),
        },
        data: Vec::new(),
    };
    for density in [2, 2, 10, 10, 100, 100, 100, 1 << 30] {
        for j in 0..n_features as u32 {
            if draw.below(density) == 0 {
                x.pattern.indices.push(j);
                x.data.push(draw.below(99) as f32 / 33.0 - 1.0);
            }
        }
        x.pattern.indptr.push(x.data.len() as u64);
    }
    x
}

/// What a predictor says of some rows, in all ways, as bits.
pub(crate) fn scores(predictor: &Predictor, x: &CsrMatrix) -> Result<Vec<u64>> {
    let (x, control) = (x.view(), Control::default());
    let n_labels = predictor.model().n_labels();
    let mut out = Vec::new();
    let floats = |out: &mut Vec<u64>, values: &[f32]| {
        out.extend(values.iter().map(|v| u64::from(v.to_bits())));
    };
    for beam_size in [1, 3, 100] {
        let query = Query {
            beam_size,
            allowed: None,
        };
        let top = predictor.top_k(x, 5, query, &control)?;
        out.extend(top.labels.iter().map(|&l| l as u64));
        floats(&mut out, &top.scores);
        let threshold = predictor.model().scoring().neutral();
        let above = predictor.above(x, threshold, beam_size, &control)?;
        out.extend(above.indptr);
        out.extend(above.indices.iter().map(|&l| u64::from(l)));
    }
    let rows: Vec<u32> = (0..x.n_rows() * n_labels)
        .map(|i| (i / n_labels) as u32)
        .collect();
    let labels: Vec<u32> = (0..x.n_rows() * n_labels)
        .map(|i| (i % n_labels) as u32)
        .collect();
    floats(
        &mut out,
        &predictor.score_pairs(x, &rows, &labels, &control)?,
    );
    if predictor.model().is_flat() {
        floats(&mut out, &predictor.decision_function(x, &control)?);
    }
    Ok(out)
}

pub(crate) fn labels(predictor: &Predictor, x: &CsrMatrix, allowed: &[u32]) -> Result<TopLabels> {
    let query = Query {
        beam_size: 2,
        allowed: Some(allowed),
    };
    predictor.top_k(x.view(), 4, query, &Control::default())
}

/// One row that has all features.
pub(crate) fn full_row(n_features: usize) -> CsrMatrix {
    let ids: Vec<u32> = (0..n_features as u32).collect();
    let ones = vec![1.0; n_features];
    let indptr = [0, n_features as u64];
    let x = CsrView::new(1, n_features, &indptr, &ids, &ones).unwrap();
    proxtree_core::sparse::normalize_rows(x)
}

/// Where a section is in a file.
pub(crate) fn section(bytes: &[u8], name: &str) -> Option<Range<usize>> {
    let data = SafeTensors::deserialize(bytes).unwrap();
    let data = data.tensor(name).ok()?.data();
    let start = data.as_ptr().addr() - bytes.as_ptr().addr();
    Some(start..start + data.len())
}
