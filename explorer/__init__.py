"""Gramscope: a desktop explorer of attention as kernel principal component analysis."""

__version__ = "0.1.0"
