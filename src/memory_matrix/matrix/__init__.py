"""Read, check and expand the matrix file."""
