//! Trees that the user brings: parent arrays and files of names.

use std::collections::HashMap;
use std::path::Path;

use super::label_tree::{Child, LabelTree};
use crate::{Error, Result};

impl LabelTree {
    /// The tree in which item `i` hangs under item `parents[i]`.
    ///
    /// Items `0..n_labels` are the labels, the later ones internal nodes; the
    /// root's parent is -1. The number of labels is the lowest id that occurs as
    /// a parent. Children are in order of their ids, so labels come first. A
    /// node with a single child is kept.
    ///
    /// # Errors
    /// [`Error::Data`] for no or several roots, a parent out of range, a node
    /// without children, or a cycle; each names an item.
    pub fn from_parents(parents: &[i64]) -> Result<Self> {
        let n = parents.len();
        let mut root = None;
        let mut n_labels = n;
        for (item, &parent) in parents.iter().enumerate() {
            match usize::try_from(parent) {
                Ok(p) if p < n => n_labels = n_labels.min(p),
                Err(_) if parent == -1 => {
                    if let Some(first) = root.replace(item) {
                        return Err(Error::data(format!(
                            "parents: items {first} and {item} both have parent -1; one root expected"
                        )));
                    }
                }
                _ => {
                    return Err(Error::data(format!(
                        "parents[{item}] = {parent} is neither -1 (root) nor an item in [0, {n})"
                    )));
                }
            }
        }
        let Some(root) = root else {
            return Err(Error::data("parents: no item has parent -1 (the root)"));
        };
        if root < n_labels {
            return Err(Error::data(format!(
                "parents: the root, item {root}, has no children"
            )));
        }
        let mut nodes = vec![Vec::new(); n - n_labels];
        for (item, &parent) in parents.iter().enumerate() {
            let child = match item.checked_sub(n_labels) {
                Some(node) => Child::Node(node as u32),
                None => Child::Label(item as u32),
            };
            if item != root {
                nodes[parent as usize - n_labels].push(child);
            }
        }
        if let Some(node) = nodes.iter().position(Vec::is_empty) {
            return Err(Error::data(format!(
                "parents: item {} has no children, but labels are the items below {n_labels}",
                node + n_labels
            )));
        }
        let tree = Self::from_children(n_labels, &nodes, root - n_labels);
        tree.map_err(|error| match cycle(parents) {
            Some(item) => Error::data(format!("parents: item {item} is its own ancestor")),
            None => error,
        })
    }
}

/// An item on a cycle of `parents`.
fn cycle(parents: &[i64]) -> Option<usize> {
    // The walk on which an item was first met; walks that meet an older one end.
    let mut walk = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut item = start;
        while walk[item] == usize::MAX {
            walk[item] = start;
            match usize::try_from(parents[item]) {
                Ok(parent) if walk[parent] == start => return Some(parent),
                Ok(parent) => item = parent,
                Err(_) => break,
            }
        }
    }
    None
}

/// Read a hierarchy from `child<TAB>parent` lines of names.
///
/// Names in `label_names` are labels (label j is `label_names[j]`), all others
/// internal nodes; the one name without a parent is the root. A label that has
/// children of its own becomes a node that holds the label as its first leaf:
/// subject headings are used, and have narrower ones. Nodes with one child are
/// kept. Blank lines are skipped, blanks around names are not part of them, nor
/// is a byte order mark.
/// Children stand in the order of the file.
///
/// # Errors
/// [`Error::Format`] with the line for a line without exactly one tab, an empty
/// name, a second parent, a cycle, or a name that is no label and has no
/// children; without a line for several roots and labels that are missing.
/// [`Error::Data`] for a repeated label name; [`Error::Io`].
pub fn read_hierarchy<S: AsRef<str>>(path: &Path, label_names: &[S]) -> Result<LabelTree> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    parse(text, label_names).map_err(|e| e.at(path))
}

fn error(line: usize, message: String) -> Error {
    Error::Format {
        path: None,
        line: Some(line as u64),
        message,
    }
}

fn parse<S: AsRef<str>>(bytes: &[u8], label_names: &[S]) -> Result<LabelTree> {
    let n_labels = label_names.len();
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    for name in label_names {
        if let Some(first) = ids.insert(name.as_ref(), names.len()) {
            return Err(Error::data(format!(
                "label_names[{first}] and label_names[{}] are both {:?}",
                names.len(),
                name.as_ref()
            )));
        }
        names.push(name.as_ref());
    }
    // Per name: its parent, and the line that says so or mentions it first.
    let mut parents: Vec<Option<usize>> = vec![None; n_labels];
    let mut lines: Vec<usize> = vec![0; n_labels];
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (at, raw) in bytes.split(|&b| b == b'\n').enumerate() {
        let line = at + 1;
        let text = std::str::from_utf8(raw)
            .map_err(|e| error(line, format!("not UTF-8 after byte {}", e.valid_up_to())))?;
        if text.trim().is_empty() {
            continue;
        }
        let mut fields = text.split('\t').map(str::trim);
        let (Some(child), Some(parent), None) = (fields.next(), fields.next(), fields.next())
        else {
            return Err(error(
                line,
                format!("expected child<TAB>parent, found {:?}", text.trim_end()),
            ));
        };
        if child.is_empty() || parent.is_empty() {
            return Err(error(line, "a name is empty".to_owned()));
        }
        let mut id = |name| {
            *ids.entry(name).or_insert_with(|| {
                names.push(name);
                parents.push(None);
                lines.push(line);
                names.len() - 1
            })
        };
        let (child, parent) = (id(child), id(parent));
        if let Some(first) = parents[child] {
            return Err(error(
                line,
                format!(
                    "{:?} already has the parent {:?} (line {})",
                    names[child], names[first], lines[child]
                ),
            ));
        }
        parents[child] = Some(parent);
        lines[child] = line;
        edges.push((child, parent));
    }
    arrange(n_labels, &names, &parents, &lines, &edges)
}

/// The tree of the names, errors in their terms.
fn arrange(
    n_labels: usize,
    names: &[&str],
    parents: &[Option<usize>],
    lines: &[usize],
    edges: &[(usize, usize)],
) -> Result<LabelTree> {
    let as_array: Vec<i64> = parents.iter().map(|p| p.map_or(-1, |p| p as i64)).collect();
    if let Some(name) = cycle(&as_array) {
        let message = format!("{:?} is its own ancestor", names[name]);
        return Err(error(lines[name], message));
    }
    let mut node_of = vec![None; names.len()];
    let mut nodes: Vec<Vec<Child>> = Vec::new();
    for &(_, parent) in edges {
        if node_of[parent].is_none() {
            node_of[parent] = Some(nodes.len());
            // A label with children is the first leaf of its own node.
            let own = (parent < n_labels).then_some(Child::Label(parent as u32));
            nodes.push(own.into_iter().collect());
        }
    }
    let mut roots = Vec::new();
    for (name, parent) in parents.iter().enumerate() {
        match (parent, node_of[name]) {
            (None, Some(node)) => roots.push((name, node)),
            (None, None) => {
                return Err(Error::format(format!("label {:?} is missing", names[name])));
            }
            (Some(_), None) if name >= n_labels => {
                let message = format!("{:?} is no label and has no children", names[name]);
                return Err(error(lines[name], message));
            }
            _ => {}
        }
    }
    let root = match roots[..] {
        [(_, node)] => node,
        [(a, _), (b, _), ..] => {
            return Err(Error::format(format!(
                "{} names have no parent, {:?} and {:?} among them; one root expected",
                roots.len(),
                names[a],
                names[b]
            )));
        }
        [] => return Err(Error::format("no child<TAB>parent line")),
    };
    for &(child, parent) in edges {
        if let Some(node) = node_of[parent] {
            nodes[node].push(match node_of[child] {
                Some(child) => Child::Node(child as u32),
                None => Child::Label(child as u32),
            });
        }
    }
    LabelTree::from_children(n_labels, &nodes, root)
}
