//! Text files to matrices and back: the XMC repository format and svmlight.
