//! From rows to scores and best labels.
