"""What a page says, in each language: one module for each, whose name is the language's code. See `core/language.py`."""
