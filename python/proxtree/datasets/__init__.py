"""Data that ship with the package."""

from proxtree.datasets._wordnet_nouns import (
    TextDataset,
    TfidfDataset,
    load_wordnet_nouns,
    wordnet_nouns_tfidf,
)

__all__ = [
    "TextDataset",
    "TfidfDataset",
    "load_wordnet_nouns",
    "wordnet_nouns_tfidf",
]
