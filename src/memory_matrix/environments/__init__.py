"""Find interpreters and build virtual environments."""
