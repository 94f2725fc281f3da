"""Studies over data sets: how statements of papers fare on other data."""

from proxtree.study._models import ModelStudy, train_models
from proxtree.study._report import statements, to_markdown, write_csv
from proxtree.study._settings import Setting, settings_for
from proxtree.study._space import SpaceStudy, study_space

__all__ = [
    "ModelStudy",
    "Setting",
    "SpaceStudy",
    "settings_for",
    "statements",
    "study_space",
    "to_markdown",
    "train_models",
    "write_csv",
]
