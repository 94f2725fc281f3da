"""Text files of sparse multi-label data: the XMC repository format and svmlight.

An XMC file starts with ``n_samples n_features n_labels``; each further line is a
row, ``label,label feature:value feature:value``. A row without labels starts with
a blank or with its first feature. svmlight files have no header.

What the formats leave open is settled so:

* Blanks and tabs separate, any number of them. Lines end in LF or CRLF; a
  carriage return anywhere else is an error. A byte order mark is skipped. Other
  bytes than ASCII are an error, except in svmlight comments.
* A line that holds nothing but blanks is a row without labels and features. A line
  that holds nothing at all is one only where the header's row count needs it, else
  an error; at the end of the file such lines are ignored.
* Ids are digits only (``-1``, ``+3``, ``1.0`` and ``0x1`` are errors), and whether
  they count from 0 or from 1 is an argument, never a guess. Unsorted ids are
  sorted; a feature twice in a row is an error, a label twice counts once.
* Values are rounded correctly to float32. A value that is not finite as float32 is
  an error; one that is zero, or rounds to it, is not stored.
* A header that contradicts the rows, and an id beyond the header, are errors.
* svmlight: everything from ``#`` on is a comment, and a line that holds only a
  comment is no row; ``qid:`` and a number after the labels are ignored.

Names may be `str`, `bytes` or `os.PathLike`; ``~`` is not expanded. Names that end
in ``.gz``, ``.bz2`` or ``.xz`` are compressed files.
"""

from proxtree.io._read import Dataset, load_svmlight, load_xmc
from proxtree.io._write import save_xmc

__all__ = ["Dataset", "load_svmlight", "load_xmc", "save_xmc"]
