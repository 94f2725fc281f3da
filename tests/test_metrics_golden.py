"""Metrics against numbers from elsewhere: napkinXC, scikit-learn, published ones."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from proxtree import metrics

GOLDEN = json.loads((Path(__file__).parent / "data/metrics_napkinxc.json").read_text())


@pytest.fixture(scope="module")
def p():
    return metrics.propensity(GOLDEN["train"], n_labels=GOLDEN["n_labels"])


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_agrees_with_napkinxc(k, p):
    true, ranked = GOLDEN["true"], GOLDEN["ranked"]
    ours = {
        "P": metrics.precision_at_k(true, ranked, k),
        "R": metrics.recall_at_k(true, ranked, k),
        "nDCG": metrics.ndcg_at_k(true, ranked, k),
        "coverage": metrics.coverage_at_k(true, ranked, k),
        "PSP": metrics.psp_at_k(true, ranked, k, p),
        "PSnDCG": metrics.psndcg_at_k(true, ranked, k, p),
    }
    theirs = {name: GOLDEN["at_1_to_5"][name][k - 1] for name in ours}
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_propensity_agrees_with_napkinxc(p):
    theirs = GOLDEN["at_1_to_5"]["inverse_propensity"]
    np.testing.assert_allclose(1 / p, theirs, rtol=1e-9)
    wiki = metrics.propensity(GOLDEN["train"], *metrics.PROPENSITY_PRESETS["Wiki-500K"])
    theirs = GOLDEN["at_1_to_5"]["inverse_propensity_wikipedia"]
    np.testing.assert_allclose(1 / wiki, theirs, rtol=1e-9)


def test_per_row_convention_is_scikit_learns_ndcg_with_gains(p):
    ndcg_score = pytest.importorskip("sklearn.metrics").ndcg_score
    ranked = np.array(GOLDEN["ranked"])
    truth = np.zeros((len(ranked), GOLDEN["n_labels"]))
    for row, labels in zip(truth, GOLDEN["true"], strict=True):
        row[labels] = 1
    scores = np.zeros_like(truth)
    np.put_along_axis(scores, ranked, np.arange(5.0, 0, -1)[np.newaxis], axis=1)
    for k in (1, 3, 5):
        assert metrics.psndcg_at_k(truth, ranked, k, p, "per_row") == pytest.approx(
            ndcg_score(truth / p, scores, k=k), rel=1e-9
        )
        assert metrics.ndcg_at_k(truth, ranked, k) == pytest.approx(
            ndcg_score(truth, scores, k=k), rel=1e-9
        )


# 1/p of a label without training rows, as hard-coded in PRoXML's public evaluation
# to one decimal, some of them cut off instead of rounded; N from the statistics of
# the extreme classification repository. (PRoXML trained EURLex-4K on 15,511 rows:
# 12.455 instead of 12.457.)
PUBLISHED = [
    ("Mediamill", 30_993, 13.3),
    ("EURLex-4K", 15_539, 12.4),
    ("Wiki10-31K", 14_146, 12.3),
    ("WikiLSHTC-325K", 1_778_351, 26.0),
    ("Amazon-670K", 490_449, 15.7),
    ("Wiki-500K", 1_813_391, 26.1),
]


@pytest.mark.parametrize(("name", "n_rows", "published"), PUBLISHED)
def test_unseen_label_has_the_published_weight(name, n_rows, published):
    Y_train = sparse.csr_matrix((n_rows, 1), dtype=np.uint8)
    (p,) = metrics.propensity(Y_train, *metrics.PROPENSITY_PRESETS[name])
    rounded, cut = round(1 / p, 1), math.floor(10 / p) / 10
    assert published in (rounded, cut)


def test_propensity_is_the_sigmoid_of_the_paper():
    # Jain et al. print p = 1 / (1 + C exp(-A ln(N_l + B))); here N = 20, N_l = 7.
    Y_train = np.zeros((20, 2))
    Y_train[:7, 1] = 1
    C = (math.log(20) - 1) * 2.5**0.55
    expected = [1 / (1 + C * math.exp(-0.55 * math.log(n + 1.5))) for n in (0, 7)]
    np.testing.assert_allclose(metrics.propensity(Y_train), expected, rtol=1e-12)
