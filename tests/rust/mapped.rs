//! Mapped model files: the same predictions, and damage that is met is an error.
#![allow(clippy::unwrap_used)]

#[path = "mapped/damage.rs"]
mod damage;
#[path = "mapped/models.rs"]
mod models;

use std::path::Path;

use models::{Draw, description, labels, matrix, model, scores};
use proptest::prelude::*;
use proxtree_core::model::{
    Layout, LinearTreeModel, Scoring, StoredModel, from_bytes, load, save, to_bytes,
    to_mapped_bytes,
};
use proxtree_core::parallel::with_pool;
use proxtree_core::predict::Predictor;

fn mapped(model: &LinearTreeModel, path: &Path) -> StoredModel {
    save(path, model, &description(), Layout::Mapped).unwrap();
    let (read, about) = load(path).unwrap();
    assert!(read.is_mapped());
    assert_eq!(about, description());
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Trees, ensembles and one-vs-rest, dense (nodes with direct offsets) and sparse
    /// (tables, scans), with and without untrained labels.
    #[test]
    fn a_mapped_model_is_the_model(
        seed in any::<u64>(),
        n_trees in 1usize..3,
        flat in any::<bool>(),
        density in prop_oneof![Just(2), Just(40), Just(400)],
        n_untrained in 0u32..3,
    ) {
        let mut draw = Draw(seed);
        let model = model(&mut draw, n_trees, flat, density, n_untrained);
        let folder = tempfile::tempdir().unwrap();
        let read = mapped(&model, &folder.path().join("m"));
        prop_assert_eq!(&*read.whole().unwrap(), &model);
        prop_assert_eq!(read.n_nonzero(), model.n_nonzero());
        prop_assert_eq!(read.n_features(), model.n_features());
        prop_assert_eq!(read.scoring(), model.scoring());
        prop_assert_eq!(read.normalize(), model.normalize());
        prop_assert_eq!(read.untrained(), model.untrained());
        let x = matrix(&mut draw, model.n_features());
        let (whole, read) = (Predictor::new(model).unwrap(), Predictor::new(read).unwrap());
        let expected = scores(&whole, &x).unwrap();
        prop_assert_eq!(&scores(&read, &x).unwrap(), &expected);
        prop_assert_eq!(with_pool(2, || scores(&read, &x)).unwrap(), expected);
    }
}

#[test]
fn both_layouts_hold_the_same() {
    let model = model(&mut Draw(1), 2, false, 40, 1);
    let bytes = to_mapped_bytes(&model, &description()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let read = mapped(&model, &path);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // Of bytes in memory, a copy that is checked as a whole.
    assert_eq!(from_bytes(&bytes).unwrap(), (model.clone(), description()));
    let again = to_bytes(&read.whole().unwrap(), &description()).unwrap();
    assert_eq!(again, to_bytes(&model, &description()).unwrap());
    let node = read.classifiers(1, 1).unwrap().unwrap();
    assert_eq!(*node, model.trees()[1].nodes()[1]);
    assert!(read.classifiers(1, 1000).unwrap().is_none());
    assert!(read.classifiers(2, 0).unwrap().is_none());
}

/// The sections of a flat tree by hand: 3 features, labels 0 and 1 with weights
/// (1, 0, -0.5), (0, 0, 2) and intercepts 0.25, 0.
#[test]
fn sections_are_as_documented() {
    let model = models::by_hand(3);
    let bytes = to_mapped_bytes(&model, &description()).unwrap();
    let section = |name: &str| models::section(&bytes, name).map(|range| &bytes[range]);
    let words = |values: &[u32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<_>>()
    };
    assert_eq!(section("tree0.child_ptr").unwrap(), words(&[0, 2]));
    let label = 1 << 31;
    assert_eq!(
        section("tree0.children").unwrap(),
        words(&[label, label | 1])
    );
    // 3 <= 2 * 3 weights: an offset for each feature, and no features.
    assert_eq!(section("tree0.counts").unwrap(), words(&[0, 3]));
    assert_eq!(section("tree0.features"), None);
    assert_eq!(section("tree0.offsets").unwrap(), words(&[0, 1, 1, 3]));
    let entries = words(&[
        0,
        1.0f32.to_bits(),
        0,
        (-0.5f32).to_bits(),
        1,
        2.0f32.to_bits(),
    ]);
    assert_eq!(section("tree0.entries").unwrap(), entries);
    assert_eq!(
        section("tree0.entries.crc").unwrap(),
        words(&[crc32fast::hash(&entries)])
    );
    let intercepts: Vec<u8> = [0.25f64, 0.0]
        .iter()
        .flat_map(|b| b.to_le_bytes())
        .collect();
    assert_eq!(section("tree0.intercepts").unwrap(), intercepts);

    // Seven features are more than twice the weights: those of the node alone.
    let bytes = to_mapped_bytes(&models::by_hand(7), &description()).unwrap();
    let section = |name: &str| models::section(&bytes, name).map(|range| &bytes[range]);
    assert_eq!(section("tree0.counts").unwrap(), words(&[2, 3]));
    assert_eq!(section("tree0.features").unwrap(), words(&[0, 2]));
    assert_eq!(section("tree0.offsets").unwrap(), words(&[0, 1, 3]));
}

/// Long sections have a checksum for every 4096 bytes.
#[test]
fn blocks_are_checked_apart() {
    let model = model(&mut Draw(5), 1, true, 2, 0);
    let bytes = to_mapped_bytes(&model, &description()).unwrap();
    let entries = &bytes[models::section(&bytes, "tree0.entries").unwrap()];
    assert!(entries.len() > 3 * 4096, "{}", entries.len());
    let sums = &bytes[models::section(&bytes, "tree0.entries.crc").unwrap()];
    let expected = entries
        .chunks(4096)
        .flat_map(|b| crc32fast::hash(b).to_le_bytes());
    assert_eq!(sums, expected.collect::<Vec<_>>());
}

/// Saving over a file that is in use gives it a new one, as a rename does.
#[cfg(unix)]
#[test]
fn a_file_replaced_in_use_stays_usable() {
    let (old, new) = (
        model(&mut Draw(7), 1, false, 2, 0),
        model(&mut Draw(8), 1, true, 40, 0),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let read = mapped(&old, &path);
    let x = matrix(&mut Draw(9), old.n_features());
    let read = Predictor::new(read).unwrap();
    mapped(&new, &path);
    let expected = scores(&Predictor::new(old).unwrap(), &x).unwrap();
    assert_eq!(scores(&read, &x).unwrap(), expected);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(scores(&read, &x).unwrap(), expected);
}

#[test]
fn labels_of_a_mapped_model_can_be_restricted() {
    let model = model(&mut Draw(3), 1, true, 40, 2);
    let folder = tempfile::tempdir().unwrap();
    let read = Predictor::new(mapped(&model, &folder.path().join("m"))).unwrap();
    assert_eq!(model.scoring(), Scoring::Margin);
    let x = matrix(&mut Draw(4), model.n_features());
    let whole = Predictor::new(model).unwrap();
    for allowed in [vec![], vec![0, 3, 17]] {
        let expected = labels(&whole, &x, &allowed).unwrap();
        assert_eq!(labels(&read, &x, &allowed).unwrap(), expected);
    }
}
