"""``proxtree demo``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from proxtree import metrics
from proxtree.cli import _options
from proxtree.cli._inspect import dense_bytes
from proxtree.cli._output import emit, log, size
from proxtree.datasets import load_wordnet_nouns, wordnet_nouns_tfidf

if TYPE_CHECKING:
    from proxtree.cli._options import Commands
    from proxtree.estimators import LinearLabelTree, LinearOneVsRest

_KS = (1, 3, 5)
_EXAMPLES = 10


def add(commands: Commands) -> None:
    """Add the command."""
    _options.add_command(
        commands,
        "demo",
        run,
        "train and test on the data that ship with proxtree",
        "Learn the categories of nouns from their dictionary definitions (WordNet "
        "3.0):\ntrain a label tree and one-vs-rest on 15,850, test on 3,934, "
        "show ten.\nNeeds scikit-learn:\n"
        "  pip install 'proxtree[text]'",
    )


def run(args: argparse.Namespace) -> None:
    """Train, test, show."""
    log(args, "WordNet nouns: turning definitions into TF-IDF ...")
    data = wordnet_nouns_tfidf()
    log(
        args,
        f"training {data.Y_train.shape[1]:,} labels on {data.X_train.shape[0]:,} "
        f"definitions, {data.X_train.shape[1]:,} words ...",
    )
    facts: dict[str, Any] = {
        "n_train": data.X_train.shape[0],
        "n_test": data.X_test.shape[0],
        "n_features": data.X_train.shape[1],
        "n_labels": data.Y_train.shape[1],
        "dense_bytes": dense_bytes(data.Y_train.shape[1], data.X_train.shape[1]),
        "models": {},
    }
    for name, cls in _options.ESTIMATORS.items():
        start = time.perf_counter()
        model = cls(
            alpha=1.0,
            n_threads=args.threads,
            random_state=args.seed,
            progress=_options.wants_bar(args),
        ).fit(data.X_train, data.Y_train)
        wall = time.perf_counter() - start
        labels, _ = model.predict_topk(data.X_test, max(_KS))
        facts["models"][name] = {
            "class": cls.__name__,
            "metrics": metrics.evaluate(data.Y_test, labels, data.Y_train, _KS),
            "wall_s": wall,
            "n_nonzero": model.n_nonzero_,
            "file_bytes": _file_bytes(model),
            "certificates": model.certificate_summary(),
        }
        # Of the first model, the default one.
        if "examples" not in facts:
            facts["examples"] = _examples(data.Y_test, labels, data.label_names)
    emit(args, facts, [*_table(facts), "", *_shown(facts["examples"])])


def _file_bytes(model: LinearLabelTree | LinearOneVsRest) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        model.save(path)
        return path.stat().st_size


def _table(facts: dict[str, Any]) -> list[str]:
    """Return a column for each model."""
    models = list(facts["models"].values())
    rows = {"": [model["class"] for model in models]}
    for name in ("P", "nDCG", "PSP"):
        for k in _KS:
            key = f"{name}@{k}"
            rows[f"{key}, percent"] = [f"{100 * m['metrics'][key]:.2f}" for m in models]
    proofs = [model["certificates"] for model in models]
    rows |= {
        "training time": [f"{m['wall_s']:.2f} s" for m in models],
        "non-zeros": [f"{m['n_nonzero']:,}" for m in models],
        "file": [f"{m['file_bytes']:,} bytes" for m in models],
        "problems": [f"{p['n_trained']:,}" for p in proofs],
        "proved to the gap": [f"{p['n_converged']:,}" for p in proofs],
    }
    lines = [
        f"{name:<18}" + "".join(f"{cell:>18}" for cell in row)
        for name, row in rows.items()
    ]
    return [*lines, "", f"all weights, dense float32: {size(facts['dense_bytes'])}"]


def _examples(Y_test: Any, labels: Any, names: list[str]) -> list[dict[str, Any]]:
    texts = load_wordnet_nouns().test_texts
    rows = np.linspace(0, len(texts) - 1, _EXAMPLES).astype(int)
    examples = []
    for i in rows.tolist():
        true = set(Y_test.indices[Y_test.indptr[i] : Y_test.indptr[i + 1]].tolist())
        predicted = [j for j in labels[i].tolist() if j >= 0]
        examples.append(
            {
                "text": texts[i],
                "predicted": [names[j] for j in predicted],
                "right": [j in true for j in predicted],
                "true": [names[j] for j in sorted(true)],
            }
        )
    return examples


def _shown(examples: list[dict[str, Any]]) -> list[str]:
    lines = [f"{len(examples)} test definitions, right categories in [brackets]:"]
    for example in examples:
        marked = [
            f"[{name}]" if right else name
            for name, right in zip(example["predicted"], example["right"], strict=True)
        ]
        lines += ["", example["text"], "    " + "  ".join(marked)]
    return lines
