"""What a machine has of what memory-matrix uses. Nothing is started, built, fetched or written."""
