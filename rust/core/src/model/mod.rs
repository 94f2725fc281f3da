//! The trained model and its file.
