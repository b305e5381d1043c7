"""Stepwise content extraction with structured transformers."""

__version__ = '0.1.0'
