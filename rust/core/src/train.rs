//! All binary problems of a tree, solved side by side.
