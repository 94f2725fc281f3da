"""What LinearLabelTree refuses before it looks at the data, and how it says so."""

import numpy as np
import pytest

from proxtree import LinearLabelTree
from proxtree.exceptions import DataError


class Unread:
    """Data that must not be asked for anything."""

    def __getattr__(self, name):
        raise AssertionError(f"the data was asked for {name}")

    def __array__(self, *args, **kwargs):
        raise AssertionError("the data was read")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": 1}, DataError, "n_clusters is 1, expected at least 2"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters is 2.0, expected an integer"),
        ({"max_depth": 0}, DataError, "max_depth is 0, expected at least 1"),
        ({"clustering": "ward"}, DataError, "clustering is 'ward', expected"),
        ({"tree": [0, [2]]}, DataError, "label 2 is outside"),
        ({"tree": "tree.tsv"}, TypeError, "tree is a str"),
        (
            {"solver": "coordinate_descent", "violation_tol": 0.01},
            DataError,
            'violation_tol is 0.01, expected 0 or None with solver "coordinate_desc',
        ),
        (
            {"solver": "dual_coordinate_descent", "ridge": 0.5},
            DataError,
            'ridge is 0.5, expected 0 with solver "dual_coordinate_descent"',
        ),
        ({"C": 0}, DataError, "C is 0, expected a finite number > 0"),
        ({"solver_options": {"C": 1}}, DataError, "solver_options holds C"),
    ],
)
def test_a_bad_parameter_is_refused_before_the_data_is_read(parameters, error, message):
    with pytest.raises(error, match=message):
        LinearLabelTree(**parameters).fit(Unread(), Unread())


def test_a_given_tree_leaves_the_parameters_of_building_alone():
    X, Y = np.eye(4), np.eye(4)
    given = LinearLabelTree(tree=[[0, 1], [2, 3]], n_clusters=1, max_depth=0)
    assert given.fit(X, Y).tree_.depth == 2
