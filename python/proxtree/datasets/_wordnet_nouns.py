"""Nouns of WordNet 3.0: definitions to categories."""

import gzip
from importlib import import_module
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class TextDataset(NamedTuple):
    """Texts and the names of their labels, split for training and testing.

    Attributes
    ----------
    train_texts : list of str
        One text a sample.
    train_labels : list of list of str
        The names of each sample's labels, none twice.
    test_texts : list of str
        As `train_texts`.
    test_labels : list of list of str
        As `train_labels`.
    """

    train_texts: list[str]
    train_labels: list[list[str]]
    test_texts: list[str]
    test_labels: list[list[str]]


class TfidfDataset(NamedTuple):
    """Texts as weighted words, split for training and testing.

    Attributes
    ----------
    X_train : scipy.sparse.csr_matrix of shape (n_train, n_features), float32
        One column a word of the training texts; rows of length 1.
    Y_train : scipy.sparse.csr_matrix of shape (n_train, n_labels), uint8
        1 where the sample has the label.
    X_test : scipy.sparse.csr_matrix of shape (n_test, n_features), float32
        As `X_train`, in its words.
    Y_test : scipy.sparse.csr_matrix of shape (n_test, n_labels), uint8
        As `Y_train`.
    label_names : list of str
        The name of each column of `Y_train` and `Y_test`, in order of code points.
    """

    X_train: sp.csr_matrix
    Y_train: sp.csr_matrix
    X_test: sp.csr_matrix
    Y_test: sp.csr_matrix
    label_names: list[str]


def load_wordnet_nouns() -> TextDataset:
    """Load noun definitions with the categories above them.

    A text is the words of a noun sense and its definition, ``words. definition``.
    Its labels are senses above it in WordNet. 15,850 texts to train on, 3,934 to
    test with, 2,316 labels, 2.9 of them a text; each occurs with four or more of
    the training texts.

    Returns
    -------
    TextDataset
        ``train_texts, train_labels, test_texts, test_labels``.

    References
    ----------
    G. A. Miller, "WordNet: A Lexical Database for English", Communications of the
    ACM 38(11), 1995. WordNet 3.0 Copyright 2006 by Princeton University; its
    licence lies beside the data.

    Examples
    --------
    >>> from proxtree.datasets import load_wordnet_nouns
    >>> data = load_wordnet_nouns()
    >>> data.train_texts[0]
    'Orthodox Jew. Jew who practices strict observance of Mosaic law'
    >>> data.test_labels[3]
    ['unfortunate']
    """
    return TextDataset(*_read("train"), *_read("test"))


def wordnet_nouns_tfidf() -> TfidfDataset:
    """Turn `load_wordnet_nouns` into matrices of weighted words.

    Words of two or more characters that occur in at least two training texts, as
    ``TfidfVectorizer(sublinear_tf=True, min_df=2)`` of scikit-learn weighs them:
    (1 + ln tf) (ln((1 + N) / (1 + df)) + 1), rows of length 1.

    Returns
    -------
    TfidfDataset
        ``X_train, Y_train, X_test, Y_test, label_names``.

    Raises
    ------
    ImportError
        scikit-learn is not installed; the extra ``proxtree[text]`` brings it.

    Examples
    --------
    >>> from proxtree.datasets import wordnet_nouns_tfidf
    >>> data = wordnet_nouns_tfidf()
    >>> data.X_train.shape, data.Y_train.shape, len(data.label_names)
    ((15850, 13972), (15850, 2316), 2316)
    """
    try:
        text = import_module("sklearn.feature_extraction.text")
    except ImportError as error:
        raise ImportError(
            "TF-IDF needs scikit-learn: pip install 'proxtree[text]'"
        ) from error
    data = load_wordnet_nouns()
    vectorizer = text.TfidfVectorizer(sublinear_tf=True, min_df=2, dtype=np.float32)
    X_train = vectorizer.fit_transform(data.train_texts)
    X_test = vectorizer.transform(data.test_texts)
    names = sorted({name for row in data.train_labels for name in row})
    ids = {name: i for i, name in enumerate(names)}
    for X in (X_train, X_test):
        X.sort_indices()
    return TfidfDataset(
        sp.csr_matrix(X_train),
        _indicator(data.train_labels, ids),
        sp.csr_matrix(X_test),
        _indicator(data.test_labels, ids),
        names,
    )


def _read(part: str) -> tuple[list[str], list[list[str]]]:
    packed = files("proxtree.datasets") / "wordnet_nouns" / f"{part}.tsv.gz"
    lines = gzip.decompress(packed.read_bytes()).decode("utf-8")
    pairs = [line.split("\t") for line in lines.rstrip("\n").split("\n")]
    return [text for text, _ in pairs], [names.split("|") for _, names in pairs]


def _indicator(labels: list[list[str]], ids: dict[str, int]) -> sp.csr_matrix:
    indices = [i for row in labels for i in sorted(ids[name] for name in row)]
    indptr = np.cumsum([0, *map(len, labels)], dtype=np.int32)
    ones = np.ones(len(indices), dtype=np.uint8)
    return sp.csr_matrix(
        (ones, np.array(indices, dtype=np.int32), indptr),
        shape=(len(labels), len(ids)),
    )
