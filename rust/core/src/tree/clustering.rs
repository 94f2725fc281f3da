//! The ways to split the labels of a node.

use std::str::FromStr;

use super::balanced::{balanced, balanced_2means};
use super::build::BuildSettings;
use super::kmeans::{KMeansSettings, lloyd};
use super::points::Points;
use super::seeding;
use crate::parallel::Control;
use crate::rng::SplitMix64;
use crate::{Error, Result};

/// How a node's labels are split into clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clustering {
    /// K-means on the rows as they are: the paper's and LibMultiLabel's.
    #[default]
    KMeans,
    /// Spherical K-means: centroids of unit length (Bonsai's).
    Spherical,
    /// K-means with cluster sizes that differ by at most one.
    Balanced,
    /// Repeated balanced bisection, sizes that differ by at most one (Parabel's).
    Balanced2Means,
}

impl Clustering {
    /// All of them with the names they have outside.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("kmeans", Self::KMeans),
        ("spherical", Self::Spherical),
        ("balanced", Self::Balanced),
        ("balanced_2means", Self::Balanced2Means),
    ];

    /// The name it has outside.
    pub fn name(self) -> &'static str {
        let at = Self::NAMES.iter().find(|(_, c)| *c == self);
        at.map_or("", |(name, _)| name)
    }
}

impl FromStr for Clustering {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let at = Self::NAMES.iter().find(|(n, _)| *n == name);
        at.map(|&(_, clustering)| clustering).ok_or_else(|| {
            let names = Self::NAMES.map(|(n, _)| n).join(", ");
            Error::data(format!("clustering must be one of {names}, not {name:?}"))
        })
    }
}

/// Split `points` into at least two and at most `k` sets of row numbers.
///
/// Sets are not empty, their rows ascend. Rows that are all equal, which no
/// clustering can split, are cut by position into `k` even runs.
/// `2 <= k <= points.len()`.
pub(super) fn split(
    points: &Points,
    k: usize,
    settings: &BuildSettings,
    mut rng: SplitMix64,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    let assignment = match settings.clustering {
        Clustering::KMeans | Clustering::Spherical => {
            let kmeans = KMeansSettings {
                max_iter: settings.max_iter,
                spherical: settings.clustering == Clustering::Spherical,
                ..KMeansSettings::default()
            };
            let start = seeding::choose(points, k, &mut rng, control)?;
            lloyd(points, start, &kmeans, control)?.assignment
        }
        Clustering::Balanced => balanced(points, k, &mut rng, control)?,
        Clustering::Balanced2Means => balanced_2means(points, k, rng.next_u64(), control)?,
    };
    let mut sets = vec![Vec::new(); k];
    for (row, &c) in assignment.iter().enumerate() {
        sets[c as usize].push(row as u32);
    }
    sets.retain(|set| !set.is_empty());
    if sets.len() > 1 {
        return Ok(sets);
    }
    let n = points.len();
    Ok((0..k)
        .map(|c| (c * n / k..(c + 1) * n / k).map(|i| i as u32).collect())
        .collect())
}
