//! Trees that the user brings: parent arrays, files of names.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use proptest::prelude::*;
use proxtree_core::tree::{Child, LabelTree, read_hierarchy};
use proxtree_core::{Error, Result};

use Child::{Label as L, Node as N};

fn read(text: &[u8], names: &[&str]) -> Result<LabelTree> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    read_hierarchy(file.path(), names)
}

fn tree(n_labels: usize, nodes: &[Vec<Child>]) -> LabelTree {
    LabelTree::from_children(n_labels, nodes, 0).unwrap()
}

#[test]
fn parents_make_the_tree_they_describe() {
    // Labels 0 to 3; nodes 4 (under 6), 5 (under 4), 6 (the root).
    let found = LabelTree::from_parents(&[5, 4, 5, 6, 6, 4, -1]).unwrap();
    let expected = [vec![L(3), N(1)], vec![L(1), N(2)], vec![L(0), L(2)]];
    assert_eq!(found, tree(4, &expected));
    assert_eq!(
        LabelTree::from_parents(&[1, -1]).unwrap(),
        LabelTree::flat(1).unwrap()
    );
}

#[test]
fn broken_parents_are_named() {
    let broken: [(&[i64], &str); 9] = [
        (&[], "no item has parent -1"),
        (&[-1], "the root, item 0, has no children"),
        (&[2, 2, 2], "no item has parent -1"),
        (&[2, 2, -1, -1], "items 2 and 3 both have parent -1"),
        (&[2, 3, -1], "parents[1] = 3 is neither"),
        (&[2, -2, -1], "parents[1] = -2 is neither"),
        (&[2, 2, -1, 2], "item 3 has no children"),
        (&[2, 3, -1, 4, 3], "item 4 is its own ancestor"),
        (&[2, 3, -1, 3], "item 3 is its own ancestor"),
    ];
    for (parents, message) in broken {
        let e = LabelTree::from_parents(parents).unwrap_err().to_string();
        let cycle = message.contains("ancestor") && e.contains("is its own ancestor");
        assert!(e.contains(message) || cycle, "{e} / {message}");
    }
}

#[test]
fn a_file_of_names_is_read_in_its_order() {
    let text = "dogs\tpets\r\n\ncats \tpets\npets\tall\nart\tall\n";
    let found = read(text.as_bytes(), &["art", "cats", "dogs"]).unwrap();
    assert_eq!(found, tree(3, &[vec![N(1), L(0)], vec![L(2), L(1)]]));
}

#[test]
fn a_label_with_children_is_a_leaf_of_its_own_node() {
    // "pets" is a label, and so is the root "all".
    let text = "dogs\tpets\npets\tall\nart\tall";
    let found = read(text.as_bytes(), &["all", "art", "dogs", "pets"]).unwrap();
    let expected = [vec![L(0), N(1), L(1)], vec![L(3), L(2)]];
    assert_eq!(found, tree(4, &expected));
}

#[test]
fn chains_are_kept() {
    let found = read(b"a\tb\nb\tc\nc\td\n", &["a"]).unwrap();
    assert_eq!((found.n_nodes(), found.depth()), (3, 3));
}

#[test]
fn broken_files_are_named_with_their_line() {
    type Broken<'a> = (&'a [u8], &'a [&'a str], Option<u64>, &'a str);
    let broken: [Broken<'_>; 12] = [
        (
            b"a\tr\nb r\n",
            &["a", "b"],
            Some(2),
            "expected child<TAB>parent, found \"b r\"",
        ),
        (b"a\tr\tx\n", &["a"], Some(1), "expected child<TAB>parent"),
        (b"a\t\n", &["a"], Some(1), "a name is empty"),
        (b"a\tr\n\xff\tr\n", &["a"], Some(2), "not UTF-8"),
        (
            b"a\tr\nb\tr\na\ts\n",
            &["a", "b"],
            Some(3),
            "\"a\" already has the parent \"r\" (line 1)",
        ),
        (b"a\tr\na\tr\n", &["a"], Some(2), "already has the parent"),
        (
            b"a\tr\nr\ts\ns\tr\n",
            &["a"],
            Some(2),
            "\"r\" is its own ancestor",
        ),
        (b"a\ta\n", &["a"], Some(1), "\"a\" is its own ancestor"),
        (
            b"a\tr\nx\tr\n",
            &["a"],
            Some(2),
            "\"x\" is no label and has no children",
        ),
        (
            b"a\tr\nb\ts\n",
            &["a", "b"],
            None,
            "2 names have no parent, \"r\" and \"s\"",
        ),
        (b"a\tr\n", &["a", "b"], None, "label \"b\" is missing"),
        (b"\n", &[], None, "no child<TAB>parent line"),
    ];
    for (text, names, at, expected) in broken {
        match read(text, names).unwrap_err() {
            Error::Format {
                path,
                line,
                message,
            } => {
                assert!(message.contains(expected), "{message} / {expected}");
                assert_eq!(line, at, "{message}");
                assert!(path.is_some());
            }
            other => panic!("{other} / {expected}"),
        }
    }
    let twice = read(b"a\tr\n", &["a", "a"]).unwrap_err().to_string();
    assert!(
        twice.contains("label_names[0] and label_names[1]"),
        "{twice}"
    );
    let missing = read_hierarchy("/no/such/file".as_ref(), &["a"]).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }));
}

#[test]
fn children_lists_must_be_a_tree() {
    let error = |nodes: &[Vec<Child>]| {
        LabelTree::from_children(2, nodes, 0)
            .unwrap_err()
            .to_string()
    };
    assert!(error(&[vec![L(0), N(0)], vec![L(1)]]).contains("node 0 has two parents or"));
    assert!(error(&[vec![N(1), N(1)], vec![L(0), L(1)]]).contains("node 1 has two parents"));
    assert!(error(&[vec![L(0), L(1)], vec![N(1)]]).contains("node 1 does not hang"));
    assert!(error(&[vec![L(0), L(1), N(4)]]).contains("node 4 is outside"));
    assert!(LabelTree::from_children(1, &[], 0).is_err());
}

/// Ten thousand nodes in a chain: no recursion, no quadratic walk.
#[test]
fn a_deep_chain_is_no_problem() {
    let n = 10_000;
    let mut parents: Vec<i64> = vec![1];
    parents.extend((1..n).map(|i| i + 1));
    parents.push(-1);
    let tree = LabelTree::from_parents(&parents).unwrap();
    assert_eq!(tree.depth() as i64, n);
    assert_eq!(tree.clip(3).unwrap().depth(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any array gives a tree or an error; a tree has the depth of the array.
    #[test]
    fn any_parents_are_a_tree_or_an_error(parents in prop::collection::vec(-2i64..9, 0..9)) {
        let Ok(tree) = LabelTree::from_parents(&parents) else { return Ok(()) };
        let depth_of = |mut item: usize| {
            let mut depth = 0;
            while let Ok(parent) = usize::try_from(parents[item]) {
                item = parent;
                depth += 1;
            }
            depth
        };
        let deepest = (0..parents.len()).map(depth_of).max().unwrap();
        prop_assert_eq!(tree.depth(), deepest);
        prop_assert_eq!(tree.n_labels() + tree.n_nodes(), parents.len());
    }
}
