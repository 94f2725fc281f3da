//! Label trees: how labels are arranged under internal nodes.

mod accumulator;
mod balanced;
mod build;
mod centroids;
mod clustering;
mod hierarchy;
mod kmeans;
mod label_features;
mod label_tree;
mod points;
mod products;
mod seeding;
mod shape;

pub use build::{BuildSettings, build};
pub use clustering::Clustering;
pub use hierarchy::read_hierarchy;
pub use kmeans::{KMeans, KMeansSettings, Start, kmeans};
pub use label_features::label_features;
pub use label_tree::{Child, LabelTree};
pub use shape::DepthRow;
