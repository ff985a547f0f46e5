"""GitHub Actions: workflow commands, annotations, the job summary, and the action's own entry."""
