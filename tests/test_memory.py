"""Too little memory is a MemoryError before training, never an abort."""

import subprocess
import sys

import pytest

from proxtree import LinearOneVsRest

WIDE = """
import resource, sys
import numpy as np
from scipy import sparse
from proxtree import LinearOneVsRest, solve
n_features, action = int(sys.argv[1]), sys.argv[2]
X = sparse.csr_matrix(
    (np.ones(4), np.array([0, 5, n_features - 1, 7]), np.arange(5)),
    shape=(4, n_features),
)
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    if action == "fit":
        LinearOneVsRest(n_threads=2).fit(X, [[0], [1], [0], [1]])
    elif action == "normalize":
        LinearOneVsRest(n_threads=2, normalize=True).fit(X, [[0], [1], [0], [1]])
    else:
        solve(X, [1, 0, 1, 0])
except MemoryError as error:
    print("MemoryError:", error)
else:
    print("done")
"""


def run(n_features, action):
    return subprocess.run(
        [sys.executable, "-c", WIDE, str(n_features), action],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
@pytest.mark.parametrize("action", ["fit", "normalize", "solve"])
@pytest.mark.parametrize(
    # Columns of X do not fit; they fit, but not what solving adds.
    "n_features",
    [2**32 - 1, 2**31, 52_000_000],
)
def test_billions_of_features(n_features, action):
    result = run(n_features, action)
    assert result.returncode == 0, result.stderr[-500:]
    assert result.stdout.startswith("MemoryError: no memory for "), result.stdout
    assert f"{n_features}" in result.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS bites on Linux")
def test_a_million_features_fit():
    assert run(1_000_000, "fit").stdout == "done\n"


def test_a_huge_k():
    model = LinearOneVsRest().fit([[1.0], [0.0]], [[0], [1]])
    # 200 rows x 2^31 places of 8 bytes: 3 TB.
    with pytest.raises(MemoryError, match="no memory for 200 x 2147483647 results"):
        model.predict_topk([[1.0]] * 200, 2**31 - 1)
