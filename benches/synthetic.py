"""Seeded data that look like a corpus: topics, Zipf labels, Zipf words, tf-idf rows.

Labels and words of rank r are about as frequent as 1 / r. A row is about one topic;
its labels are mostly of that topic; its words come from the language at large, from
the topic and from its labels, so that labels can be learned, neighbours resemble
each other and rare labels have rare words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

TOPIC_WORDS = 150
LABEL_WORDS = 30
# Shares of a row's words: the language, the topic; the rest is its labels'.
FROM_LANGUAGE, FROM_TOPIC = 0.5, 0.35
# Share of a row's labels that are of its topic.
OF_TOPIC = 0.85


def corpus(
    n_samples: int,
    n_labels: int,
    n_features: int,
    *,
    words_per_row: float = 60.0,
    labels_per_row: float = 4.0,
    seed: int = 0,
) -> tuple[sparse.csr_matrix[Any], sparse.csr_matrix[Any]]:
    """Return X, CSR of float32 with rows of unit norm, and Y, CSR of uint8.

    Row lengths vary: log-normal around `words_per_row` words, repetitions included;
    one label and on average `labels_per_row` - 1 more. The labels and words of a seed
    do not depend on n_samples: a corpus of more rows is more of the same.
    """
    world, draw = (np.random.default_rng([seed, part]) for part in (0, 1))
    # As many topics as labels in one, so both grow.
    n_topics = max(2, round(n_labels**0.5))
    topic_of_label = world.integers(n_topics, size=n_labels)
    topic_words = _zipf(world, n_features, (n_topics, TOPIC_WORDS))
    # Half of a label's words are its topic's, half are anyone's, rare ones too.
    label_words = world.integers(n_features, size=(n_labels, LABEL_WORDS))
    half = LABEL_WORDS // 2
    columns = world.integers(TOPIC_WORDS, size=(n_labels, half))
    label_words[:, :half] = topic_words[topic_of_label[:, None], columns]

    topics = _zipf(draw, n_topics, n_samples)
    label_rows, labels = _labels(
        draw, topics, topic_of_label, n_topics, labels_per_row - 1
    )
    lengths = np.exp(draw.normal(np.log(words_per_row), 0.5, n_samples)).astype(int) + 1
    rows = np.repeat(np.arange(n_samples), lengths)
    words = _zipf(draw, n_features, len(rows))
    kind = draw.random(len(rows))
    of_topic = (kind >= FROM_LANGUAGE) & (kind < FROM_LANGUAGE + FROM_TOPIC)
    columns = draw.integers(TOPIC_WORDS, size=of_topic.sum())
    words[of_topic] = topic_words[topics[rows[of_topic]], columns]
    of_label = kind >= FROM_LANGUAGE + FROM_TOPIC
    # One of the row's labels, and one of its words.
    starts = np.searchsorted(label_rows, np.arange(n_samples + 1))
    at = rows[of_label]
    picked = starts[at] + draw.integers(starts[at + 1] - starts[at])
    columns = draw.integers(LABEL_WORDS, size=len(at))
    words[of_label] = label_words[labels[picked], columns]

    ones = np.ones(len(labels), np.uint8)
    Y = sparse.csr_matrix((ones, (label_rows, labels)), shape=(n_samples, n_labels))
    Y.data[:] = 1
    return _tf_idf(rows, words, (n_samples, n_features)), Y


def _zipf(rng: np.random.Generator, n: int, size: Any) -> np.ndarray:
    """Draw from 0 to n - 1, the number r about as often as 1 / (r + 1)."""
    return ((n + 1) ** rng.random(size)).astype(np.int64) - 1


def _labels(
    rng: np.random.Generator,
    topics: np.ndarray,
    topic_of_label: np.ndarray,
    n_topics: int,
    more: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw the labels of each row: its topic's, by Zipf's law, and some others."""
    rows = np.repeat(np.arange(len(topics)), 1 + rng.poisson(more, len(topics)))
    labels = _zipf(rng, len(topic_of_label), len(rows))
    # Labels topic by topic; within a topic the low ids are the frequent ones.
    order = np.argsort(topic_of_label, kind="stable")
    starts = np.searchsorted(topic_of_label[order], np.arange(n_topics + 1))
    sizes = np.diff(starts)[topics[rows]]
    own = (rng.random(len(rows)) < OF_TOPIC) & (sizes > 0)
    ranks = ((sizes[own] + 1.0) ** rng.random(own.sum())).astype(np.int64) - 1
    labels[own] = order[starts[topics[rows[own]]] + ranks]
    return rows, labels


def _tf_idf(
    rows: np.ndarray, words: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_matrix[Any]:
    """Count words; (1 + ln tf) ln(n / df), and rows of unit norm."""
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, words)), shape=shape)
    X.sum_duplicates()
    df = np.bincount(X.indices, minlength=shape[1])
    X.data = (1 + np.log(X.data)) * np.log((1 + shape[0]) / (1 + df))[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(X.indptr))
    return X.astype(np.float32)
