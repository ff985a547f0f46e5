"""What `memory-matrix init` puts into a repository, made from what the project says of itself."""
