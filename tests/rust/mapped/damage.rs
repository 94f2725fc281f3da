//! Files that are cut, flipped or made up: errors, or the right scores, no panics.

use std::path::Path;

use proxtree_core::model::{from_bytes, load, to_mapped_bytes};
use proxtree_core::predict::Predictor;
use proxtree_core::sparse::CsrMatrix;

use crate::models::{Draw, by_hand, description, full_row, matrix, model, scores, section};

/// Load and ask for everything.
fn outcome(path: &Path, bytes: &[u8], x: &CsrMatrix) -> Result<Vec<u64>, String> {
    std::fs::write(path, bytes).unwrap();
    let (model, _) = load(path).map_err(|e| e.to_string())?;
    let predictor = Predictor::new(model).map_err(|e| e.to_string())?;
    scores(&predictor, x).map_err(|e| e.to_string())
}

#[test]
fn cut_and_longer_files_are_refused_at_load() {
    let bytes = to_mapped_bytes(&model(&mut Draw(2), 1, false, 40, 1), &description()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    for end in (0..bytes.len()).step_by(37) {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let e = load(&path).unwrap_err().to_string();
        assert!(e.starts_with(path.to_str().unwrap()), "cut at {end}: {e}");
    }
    let longer = [&bytes[..], &[0]].concat();
    std::fs::write(&path, longer).unwrap();
    assert!(load(&path).is_err());
}

/// One bit of every byte: found at load, found in use, or of no effect.
#[test]
fn flipped_bits_never_change_a_score() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    for (flat, density) in [(false, 40), (true, 8), (false, 400)] {
        let model = model(&mut Draw(density), 1, flat, density, 1);
        let bytes = to_mapped_bytes(&model, &description()).unwrap();
        let x = matrix(&mut Draw(1), model.n_features());
        let expected = outcome(&path, &bytes, &x).unwrap();
        let mut draw = Draw(17);
        let mut n_errors = 0;
        // Prime to the length of a number.
        let step = if flat { 29 } else { 17 };
        for at in (0..bytes.len()).step_by(step) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << draw.below(8);
            match outcome(&path, &flipped, &x) {
                Ok(scores) => assert_eq!(scores, expected, "byte {at}"),
                Err(e) => {
                    assert!(e.starts_with(path.to_str().unwrap()), "byte {at}: {e}");
                    n_errors += 1;
                }
            }
            assert!(
                from_bytes(&flipped).is_err(),
                "byte {at}: all of it is checked"
            );
        }
        // Unread are only weights of features that no row has.
        assert!(
            n_errors * step > bytes.len() * 9 / 10,
            "{n_errors} of {}",
            bytes.len()
        );
    }
}

/// Overwrite values of a section, and make the checksums of its blocks right.
fn rewrite(bytes: &[u8], name: &str, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let own = section(&bytes, name).unwrap();
    change(&mut bytes[own.clone()]);
    let sums: Vec<u8> = bytes[own]
        .chunks(4096)
        .flat_map(|block| crc32fast::hash(block).to_le_bytes())
        .collect();
    let place = section(&bytes, &format!("{name}.crc")).unwrap();
    bytes[place].copy_from_slice(&sums);
    bytes
}

fn word(bytes: &mut [u8], at: usize, value: u32) {
    bytes[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Right checksums over wrong numbers.
#[test]
fn made_up_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    for n_features in [3, 7] {
        let bytes = to_mapped_bytes(&by_hand(n_features), &description()).unwrap();
        let x = full_row(n_features);
        // Position of a feature's run, or its id.
        let last = if n_features == 3 { 3 } else { 2 };
        let cases: [(&str, usize, u32, &str); 6] = [
            ("entries", 0, 2, "no child"),
            ("entries", 0, 64, "no child 64"),
            ("entries", 4, u32::MAX, "no child"),
            ("offsets", last, 4, "outside the node"),
            ("offsets", last, 0, "outside the node"),
            ("offsets", 0, u32::MAX, "outside the node"),
        ];
        for (part, at, value, message) in cases {
            let name = format!("tree0.{part}");
            let changed = rewrite(&bytes, &name, |own| word(own, at, value));
            let e = from_bytes(&changed).unwrap_err().to_string();
            assert!(e.contains("node 0"), "{e}");
            match outcome(&path, &changed, &x) {
                // Beyond the children there is room up to a block of labels, whose
                // sums nobody reads.
                Ok(_) => assert_eq!((part, value), ("entries", 2)),
                Err(e) => assert!(
                    e.contains(message) && e.contains(&name) && e.contains("node 0"),
                    "{e}"
                ),
            }
        }
        let not_a_number = rewrite(&bytes, "tree0.entries", |own| {
            word(own, 1, f32::NAN.to_bits());
        });
        assert!(from_bytes(&not_a_number).is_err());
        // As overflowing sums: the worst margin.
        outcome(&path, &not_a_number, &x).unwrap();
    }
}

/// The features of a node in disorder are not found, or found elsewhere.
#[test]
fn features_in_disorder_do_no_harm() {
    let model = model(&mut Draw(6), 1, false, 400, 0);
    let bytes = to_mapped_bytes(&model, &description()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let x = matrix(&mut Draw(1), model.n_features());
    let mut draw = Draw(23);
    let n_features = section(&bytes, "tree0.features").unwrap().len() / 4;
    for value in [0, 7, 299, u32::MAX] {
        let at = draw.below(n_features as u64) as usize;
        let changed = rewrite(&bytes, "tree0.features", |own| word(own, at, value));
        outcome(&folder.path().join("m"), &changed, &x).unwrap();
        assert!(changed == bytes || from_bytes(&changed).is_err());
    }
}

#[test]
fn sections_out_of_step_are_refused_at_load() {
    let bytes = to_mapped_bytes(&by_hand(7), &description()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    // Four bytes more of header: nothing of eight bytes lies on its border.
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    let start = 8 + n as usize;
    let mut moved = (n + 4).to_le_bytes().to_vec();
    moved.extend_from_slice(&bytes[8..start]);
    moved.extend_from_slice(b"    ");
    moved.extend_from_slice(&bytes[start..]);
    let e = outcome(&path, &moved, &full_row(7)).unwrap_err();
    assert!(e.contains("tree0.intercepts is not aligned"), "{e}");
}
