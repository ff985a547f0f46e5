"""One model of what a run found, and its renderings."""
