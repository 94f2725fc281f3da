"""Progress of a fit: a bar, the caller's own function, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from proxtree._parameters import Progress


@contextmanager
def reporting(progress: Any, what: str) -> Iterator[Progress | None]:
    """Give what the native module calls with (done, total, n_nonzero).

    `what` is done, a noun in the singular.

    Raises
    ------
    ImportError
        If a bar is asked for and tqdm is not installed.
    TypeError
        If `progress` is neither None, a bool nor callable.
    """
    if progress is None or progress is False:
        yield None
    elif progress is True:
        try:
            tqdm = import_module("tqdm")
        except ImportError as error:
            raise ImportError(
                "progress=True needs tqdm: pip install 'proxtree[progress]'"
            ) from error
        with tqdm.tqdm(unit=f" {what}s", dynamic_ncols=True) as bar:

            def show(done: int, total: int, n_nonzero: int) -> None:
                bar.total = total
                bar.set_postfix_str(f"{n_nonzero:,} non-zeros", refresh=False)
                bar.update(done - bar.n)

            yield show
    elif callable(progress):
        yield progress
    else:
        raise TypeError(
            f"progress is {progress!r}, expected None, True or a function of "
            "(done, total, n_nonzero)"
        )
