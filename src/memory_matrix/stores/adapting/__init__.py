"""What adapters for real libraries share, so that each has what is its library's own and nothing else.

- `requiring`: import the library, and the errors by which it refuses
- `opening`: what `open` returns; stores on a client that the library does not close
- `on_postgres`, `on_redis`, `on_sqlalchemy`: clients as callers have them, and a look from outside
- `values`: times, times to live, and what of a message a library has no place for
- `langchain_messages`, `histories`: for several libraries alike
"""
