"""``proxtree study space``."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from proxtree._parameters import check_int
from proxtree.cli import _options
from proxtree.cli._data import read_data
from proxtree.cli._output import check_output, emit, log
from proxtree.exceptions import DataError
from proxtree.study._files import draw_pictures, write_tables
from proxtree.study._models import PENALTIES, ModelStudy, train_models
from proxtree.study._report import statements
from proxtree.study._space import SpaceStudy, study_space

if TYPE_CHECKING:
    from proxtree.cli._options import Commands


def add(commands: Commands) -> None:
    """Add the command and its one subcommand."""
    study = commands.add_parser(
        "study",
        help="check a paper's statements on data files",
        description="Check what papers say about label trees on data of your own.",
    )
    parser = _options.add_command(
        study.add_subparsers(title="studies", metavar="STUDY", required=True),
        "space",
        run,
        "how the size of label trees depends on depth and clusters",
        "Build trees of depth 2 to 6 with a fixed number of clusters K, and of depth "
        "2 to\n4 with K = ceil(labels^(1/depth)); say how large they are beside "
        "one-vs-rest, how\nmany features nodes share with their parents, and what "
        "theory makes of that.\nWrites CSV, Markdown and, with the extra "
        "proxtree[plot], pictures.\n\n"
        "A data set is called by its file's name, or its folder's if the file is "
        "called\ntrain.\n\n"
        "example:\n  proxtree study space debtags/train.txt.xz -o report",
    )
    parser.add_argument("data", metavar="DATA", nargs="+", help=_options.DATA_HELP)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="folder for the results, made if it is not there",
    )
    parser.add_argument(
        "--seeds",
        type=int,
        default=5,
        metavar="N",
        help="trees for each setting, seeds from --seed on (default: 5)",
    )
    parser.add_argument(
        "--n-clusters",
        type=int,
        default=100,
        metavar="K",
        help="where the number of clusters is fixed (default: 100)",
    )
    parser.add_argument(
        "--max-iter",
        type=int,
        default=300,
        metavar="N",
        help="most rounds of K-means at a node (default: 300)",
    )
    parser.add_argument(
        "--models",
        action="store_true",
        help="also train the first seed's trees and one-vs-rest and count weights",
    )
    parser.add_argument(
        "--no-one-vs-rest",
        action="store_true",
        help="let --models leave one-vs-rest out, which takes long",
    )
    parser.add_argument(
        "--penalty",
        choices=tuple(PENALTIES),
        action="append",
        help="what --models train with; may be repeated (default: all)",
    )
    _options.add_data_options(parser)


def run(args: argparse.Namespace) -> None:
    """Study one data set after the other; what is found is written at once."""
    names = data_set_names(args.data)
    check_int(args.seeds, "seeds", 1)
    folder = Path(args.output)
    if not folder.is_dir():
        check_output(args.output)
        folder.mkdir()
    check_output(str(folder / "space.md"))
    studies: list[SpaceStudy] = []
    models: dict[str, ModelStudy] = {}
    for name, path in zip(names, args.data, strict=True):
        X, Y = read_data(path, args)
        study = study_space(
            name,
            X,
            Y,
            n_clusters=args.n_clusters,
            seeds=range(args.seed, args.seed + args.seeds),
            max_iter=args.max_iter,
            n_threads=args.threads,
            log=lambda text: log(args, text),
        )
        studies.append(study)
        written = write_tables(folder, studies, models, _closing())
        if args.models:
            models[name] = train_models(
                study,
                X,
                Y,
                penalties=args.penalty or tuple(PENALTIES),
                one_vs_rest=not args.no_one_vs_rest,
                n_threads=args.threads,
                log=lambda text: log(args, text),
            )
            written = write_tables(folder, studies, models, _closing())
    try:
        written += draw_pictures(folder, studies, models)
    except ImportError as error:
        print(f"proxtree: no pictures: {error}", file=sys.stderr)
    found = {study.data_set: statements(study) for study in studies}
    lines = [
        f"{name}: {text}: {result}"
        for name, pairs in found.items()
        for text, result in pairs
    ]
    files = [str(folder / name) for name in written]
    emit(
        args,
        {"files": files, "statements": {n: dict(pairs) for n, pairs in found.items()}},
        [*lines, "", "written: " + ", ".join(files)],
    )


def data_set_names(paths: list[str]) -> list[str]:
    """Return a name for each file, all different."""
    names: list[str] = []
    for text in paths:
        path = Path(text)
        stem = "stdin" if text == "-" else path.name.split(".")[0]
        name = path.resolve().parent.name if stem == "train" else stem
        if name in names:
            raise DataError(
                f"{text} and {paths[names.index(name)]} would both be called {name}: "
                "rename one"
            )
        names.append(name or stem)
    return names


def _closing() -> str:
    packages = ", ".join(f"{p} {version(p)}" for p in ("proxtree", "numpy", "scipy"))
    return f"`proxtree study space`, {date.today().isoformat()}. {packages}."
