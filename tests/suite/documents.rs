//! What the documents say is checked against the code.
