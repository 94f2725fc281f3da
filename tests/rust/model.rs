//! The model's parts and its file.
#![allow(clippy::float_cmp, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proxtree_core::model::{
    ChildWeights, Description, Entry, Extra, Layout, LinearTreeModel, NodeClassifiers, Scoring,
    StoredModel, TrainedTree, from_bytes, load, save, to_bytes,
};
use proxtree_core::parallel::Control;
use proxtree_core::predict::{Predictor, Query};
use proxtree_core::sparse::CsrView;
use proxtree_core::tree::LabelTree;

const LABEL: u32 = 1 << 31;

fn child<'a>(indices: &'a [u32], values: &'a [f32], intercept: f64) -> ChildWeights<'a> {
    ChildWeights {
        indices,
        values,
        intercept,
    }
}

fn node() -> NodeClassifiers {
    NodeClassifiers::from_problems([
        child(&[0, 2], &[1.0, -0.5], 0.25),
        child(&[2, 3], &[2.0, 0.0], 0.1),
        child(&[], &[], 0.0),
    ])
    .unwrap()
}

fn flat_model() -> LinearTreeModel {
    // The labels stand in another order than their ids.
    let tree = LabelTree::from_parts(3, vec![0, 3], vec![LABEL | 1, LABEL | 2, LABEL]).unwrap();
    let trained = TrainedTree::new(tree, vec![node()]).unwrap();
    LinearTreeModel::new(4, vec![trained], Scoring::Margin, true, vec![2]).unwrap()
}

fn deep_model() -> LinearTreeModel {
    let deep = |third: f64| {
        let tree = LabelTree::from_parts(3, vec![0, 1, 4], vec![1, LABEL, LABEL | 1, LABEL | 2]);
        let root = NodeClassifiers::from_problems([child(&[1], &[0.5], third)]).unwrap();
        TrainedTree::new(tree.unwrap(), vec![root, node()]).unwrap()
    };
    LinearTreeModel::new(
        4,
        vec![deep(1.0 / 3.0), deep(0.0)],
        Scoring::LogSigmoid,
        false,
        vec![],
    )
    .unwrap()
}

fn description() -> Description {
    Description {
        class_name: "LinearOneVsRest".to_owned(),
        settings: "{\"alpha\": 1.0, \"naïve\": \"\\n\"}".to_owned(),
        extra: vec![Extra {
            name: "gap".to_owned(),
            dtype: "F64".to_owned(),
            shape: vec![2, 1],
            bytes: vec![7; 16],
        }],
    }
}

#[test]
fn weights_are_turned_by_feature_and_back() {
    let node = node();
    assert_eq!(node.features(), [0, 2]);
    assert_eq!(node.offsets(), [0, 1, 3]);
    let entry = |child, weight| Entry { child, weight };
    assert_eq!(
        node.entries(),
        [entry(0, 1.0), entry(0, -0.5), entry(1, 2.0)]
    );
    // Three weights (the stored zero is none) and two intercepts.
    assert_eq!(node.n_nonzero(), 5);
    let coef = node.coef(4);
    assert_eq!(coef.pattern.indptr, [0, 2, 3, 3]);
    assert_eq!(coef.pattern.indices, [0, 2, 2]);
    assert_eq!(coef.data, [1.0, -0.5, 2.0]);
}

#[test]
fn weights_of_depth_one_are_by_label() {
    let (coef, intercepts) = flat_model().coef().unwrap();
    assert_eq!(coef.pattern.indptr, [0, 0, 2, 3]);
    assert_eq!(coef.pattern.indices, [0, 2, 2]);
    assert_eq!(coef.data, [1.0, -0.5, 2.0]);
    assert_eq!(intercepts, [0.0, 0.25, 0.1]);
    assert!(deep_model().coef().is_err());
}

#[test]
fn deep_intercepts_are_float32_and_flat_ones_float64() {
    let deep = deep_model();
    let intercept = deep.trees()[0].nodes()[0].intercepts()[0];
    assert_eq!(intercept, f64::from(1.0f32 / 3.0));
    assert_eq!(flat_model().trees()[0].nodes()[0].intercepts()[1], 0.1);
}

#[test]
fn broken_problems_are_refused() {
    let cases: [(&[u32], &[f32], f64, &str); 4] = [
        (&[1, 1], &[1.0, 2.0], 0.0, "feature 1"),
        (&[1], &[1.0, 2.0], 0.0, "1 feature ids for 2"),
        (&[1], &[f32::NAN], 0.0, "not finite"),
        (&[1], &[1.0], f64::INFINITY, "intercept inf"),
    ];
    for (indices, values, intercept, text) in cases {
        let e = NodeClassifiers::from_problems([child(indices, values, intercept)]).unwrap_err();
        assert!(e.to_string().contains(text), "{e} / {text}");
    }
    assert!(NodeClassifiers::from_problems([]).is_err());
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let flat = |n| LabelTree::flat(n).unwrap();
    assert!(TrainedTree::new(flat(2), vec![node()]).is_err());
    assert!(TrainedTree::new(flat(3), vec![node(), node()]).is_err());
    let trained = TrainedTree::new(flat(3), vec![node()]).unwrap();
    let model = |n_features, trees, untrained| {
        LinearTreeModel::new(n_features, trees, Scoring::Margin, false, untrained)
    };
    assert!(model(3, vec![trained.clone()], vec![0, 2]).is_ok());
    let e = model(2, vec![trained.clone()], vec![]).unwrap_err();
    assert!(
        e.to_string().contains("feature id 2 is outside [0, 2)"),
        "{e}"
    );
    assert!(model(3, vec![], vec![]).is_err());
    assert!(model(3, vec![trained.clone()], vec![3]).is_err());
    assert!(model(3, vec![trained.clone()], vec![1, 1]).is_err());
    assert!(model(3, vec![trained.clone(), trained], vec![]).is_err());
}

#[test]
fn files_give_back_what_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    for (i, model) in [flat_model(), deep_model()].into_iter().enumerate() {
        let path = folder.path().join(format!("model {i}"));
        save(&path, &model, &description(), Layout::Coded).unwrap();
        let (read, about) = load(&path).unwrap();
        assert_eq!((&*read.whole().unwrap(), about), (&model, description()));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes, to_bytes(&model, &description()).unwrap());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Whatever is cut or flipped, loading says so.
#[test]
fn damaged_files_are_errors() {
    for model in [flat_model(), deep_model()] {
        let bytes = to_bytes(&model, &description()).unwrap();
        for end in 0..bytes.len() {
            assert!(from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(from_bytes(&flipped).is_err(), "bit {bit}");
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(from_bytes(&longer).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_errors(
        junk in proptest::collection::vec(any::<u8>(), 0..400), at in 0usize..3000,
    ) {
        prop_assert!(from_bytes(&junk).is_err());
        let mut bytes = to_bytes(&flat_model(), &description()).unwrap();
        let at = at % bytes.len();
        let end = bytes.len().min(at + junk.len());
        let before = bytes.clone();
        bytes[at..end].copy_from_slice(&junk[..end - at]);
        prop_assert!(bytes == before || from_bytes(&bytes).is_err());
    }
}

#[test]
fn a_damaged_section_is_named() {
    let mut bytes = to_bytes(&flat_model(), &description()).unwrap();
    // The last section of the file: label 2 has no positives.
    *bytes.last_mut().unwrap() ^= 1;
    let e = from_bytes(&bytes).unwrap_err().to_string();
    assert!(e.contains("section untrained is damaged"), "{e}");
}

#[test]
fn foreign_and_newer_files_are_told_apart() {
    let message = |bytes: &[u8]| from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"").contains("not a proxtree model"));
    assert!(message(b"PK\x03\x04 something else").contains("not a proxtree model"));
    let header = b"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    let mut foreign = (header.len() as u64).to_le_bytes().to_vec();
    foreign.extend_from_slice(header);
    foreign.push(9);
    assert!(message(&foreign).contains("a safetensors file, but not a proxtree model"));

    let mut newer = to_bytes(&flat_model(), &description()).unwrap();
    let version = b"format_version\\\":2";
    let at = newer.windows(version.len()).position(|w| w == version);
    newer[at.unwrap() + version.len() - 1] = b'7';
    let e = message(&newer);
    assert!(
        e.contains("format version 7") && e.contains("reads format versions 1 to 3"),
        "{e}"
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    std::fs::write(&path, &newer).unwrap();
    let e = load(&path).unwrap_err().to_string();
    assert!(e.starts_with(path.to_str().unwrap()), "{e}");
}

#[test]
fn extras_that_do_not_fit_are_refused() {
    let with = |change: fn(&mut Extra)| {
        let mut description = description();
        change(&mut description.extra[0]);
        to_bytes(&flat_model(), &description)
            .unwrap_err()
            .to_string()
    };
    assert!(with(|e| e.shape = vec![3]).contains("16 bytes"));
    assert!(with(|e| e.shape = vec![usize::MAX, 4]).contains("16 bytes"));
    assert!(with(|e| e.dtype = "F65".to_owned()).contains("F65"));
    let mut twice = description();
    twice.extra.push(twice.extra[0].clone());
    let e = to_bytes(&flat_model(), &twice).unwrap_err().to_string();
    assert!(e.contains("occurs twice"), "{e}");
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(name)
}

fn top(model: StoredModel, row: &[f32]) -> (Vec<i32>, Vec<f32>) {
    let indices: Vec<u32> = (0..row.len() as u32).collect();
    let indptr = [0, row.len() as u64];
    let x = CsrView::new(1, row.len(), &indptr, &indices, row).unwrap();
    let query = Query {
        beam_size: 10,
        allowed: None,
    };
    let top = Predictor::new(model)
        .unwrap()
        .top_k(x, 3, query, &Control::default());
    let top = top.unwrap();
    (top.labels, top.scores)
}

/// Files as proxtree 0.1.0 wrote them, of both format versions. They must load for
/// as long as their version is read.
///
/// Depth one: W = [[1, 0, -0.5, 0], [0, 0, 2, 0], 0], b = [0.25, 0, -1], label 2
/// without positives. For x = (2, 0, 1, 0): z = (2 - 0.5 + 0.25, 2, -1).
#[test]
fn golden_one_vs_rest_predicts_as_by_hand() {
    for name in ["one_vs_rest_v1.model", "one_vs_rest_v2.model"] {
        let (model, about) = load(&golden(name)).unwrap();
        assert_eq!(about.class_name, "LinearOneVsRest");
        assert_eq!(about.settings, "{\"alpha\": 1.0}");
        assert_eq!(about.extra[0].bytes, b"a\nb\nc");
        let (labels, scores) = top(model, &[2.0, 0.0, 1.0, 0.0]);
        assert_eq!(labels, [1, 0, -1]);
        assert_eq!(scores, [2.0, 1.75, f32::NEG_INFINITY]);
    }
}

/// Root over node 1 (w = (1, 0)) and label 2 (w = (0, 0.5), b = -0.5); node 1
/// over labels 0 (w = (0.5, 0)) and 1 (w = (0, 1.5), b = -0.25); squared rule.
/// For x = (1, 1): root z = (1, 0), node 1 z = (0.5, 1.25), so the path scores
/// of labels 0, 1, 2 are 0 - 0.25, 0 - 0, -1.
#[test]
fn golden_tree_predicts_as_by_hand() {
    for name in ["label_tree_v1.model", "label_tree_v2.model"] {
        let (model, about) = load(&golden(name)).unwrap();
        assert_eq!(about.class_name, "LinearLabelTree");
        let (labels, scores) = top(model, &[1.0, 1.0]);
        assert_eq!(labels, [1, 0, 2]);
        let expected = [1.0, (-0.25f32).exp(), (-1.0f32).exp()];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-7);
        }
    }
}

/// A model read from version 1 is written, and read again, as version 2.
#[test]
fn version_1_turns_into_version_2() {
    for name in ["one_vs_rest", "label_tree"] {
        let old = load(&golden(&format!("{name}_v1.model"))).unwrap();
        let old = (old.0.whole().unwrap().into_owned(), old.1);
        let bytes = to_bytes(&old.0, &old.1).unwrap();
        assert_eq!(from_bytes(&bytes).unwrap(), old);
        assert_eq!(
            std::fs::read(golden(&format!("{name}_v2.model"))).unwrap(),
            bytes
        );
    }
}
