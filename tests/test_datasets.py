"""The data that ship with the package."""

import re
import sys
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from proxtree.datasets import load_wordnet_nouns, wordnet_nouns_tfidf


@pytest.fixture(scope="module")
def data():
    return load_wordnet_nouns()


@pytest.fixture(scope="module")
def tfidf():
    return wordnet_nouns_tfidf()


def test_counts(data):
    assert len(data.train_texts) == len(data.train_labels) == 15_850
    assert len(data.test_texts) == len(data.test_labels) == 3_934
    train = {name for names in data.train_labels for name in names}
    assert len(train) == 2_316
    assert {name for names in data.test_labels for name in names} <= train


def test_texts_and_labels_are_clean_strings(data):
    texts = data.train_texts + data.test_texts
    names = [name for row in data.train_labels + data.test_labels for name in row]
    for text in texts + names:
        assert type(text) is str
        assert text == text.strip() != ""
        assert not set("\t\n|") & set(text)
    for row in data.train_labels + data.test_labels:
        assert len(row) == len(set(row)) > 0
    # The first line of each file, copied by hand.
    assert data.test_texts[0] == "dressmaker's model. someone who models dresses"
    assert data.test_labels[0] == ["worker", "assistant"]


def test_labels_become_columns_in_order_of_their_names(data, tfidf):
    assert tfidf.label_names == sorted(tfidf.label_names)
    for Y, labels in [
        (tfidf.Y_train, data.train_labels),
        (tfidf.Y_test, data.test_labels),
    ]:
        assert type(Y) is sp.csr_matrix
        assert Y.dtype == np.uint8
        assert Y.shape == (len(labels), 2_316)
        assert Y.has_canonical_format
        assert (Y.data == 1).all()
        for i, row in enumerate(labels):
            columns = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
            assert {tfidf.label_names[j] for j in columns} == set(row)


def test_words_are_weighed_as_documented(data, tfidf):
    X = tfidf.X_train
    for matrix, texts in [(X, data.train_texts), (tfidf.X_test, data.test_texts)]:
        assert type(matrix) is sp.csr_matrix
        assert matrix.dtype == np.float32
        assert matrix.shape == (len(texts), X.shape[1])
        assert matrix.has_canonical_format
        norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
        assert (np.isclose(norms, 1) | (norms == 0)).all()
    words = [Counter(re.findall(r"\w\w+", text.lower())) for text in data.train_texts]
    df = Counter(word for row in words for word in row)
    vocabulary = sorted(word for word in df if df[word] >= 2)
    assert X.shape[1] == len(vocabulary)
    # The first text has a word twice.
    assert words[0]["jew"] == 2
    for i in [0, 1, 15_849]:
        weights = {
            word: (1 + np.log(tf)) * (np.log(15_851 / (1 + df[word])) + 1)
            for word, tf in words[i].items()
            if df[word] >= 2
        }
        length = np.sqrt(sum(weight**2 for weight in weights.values()))
        got = {vocabulary[j]: X[i, j] for j in X[i].indices}
        assert got == pytest.approx({w: v / length for w, v in weights.items()})


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(ImportError, match=r"pip install 'proxtree\[text\]'"):
        wordnet_nouns_tfidf()
