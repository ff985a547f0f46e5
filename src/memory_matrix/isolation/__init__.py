"""A place of its own for each test on a real server."""
