"""The built-in payload corpus. Imported inside environments: standard library only, Python 3.6+."""
