"""The built-in serializers. Imported inside environments: standard library only, Python 3.6+."""
