//! One binary problem: settings, methods, certificate.
