"""What a page says: one module for each language, named by the language's code. See `core/language.py`."""
