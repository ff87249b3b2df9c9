"""What returns exact values, which are private: for the owner of the data, never for publication.

The survey (`survey_for`, `measure_activity`) is the exception: it spends budget, and what it returns is noisy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from locentropy.core.lazy import lazy_names

if TYPE_CHECKING:
    from locentropy.core.bounds import Bounds as Bounds
    from locentropy.core.visit_profile import VisitProfile as VisitProfile
    from locentropy.evaluation.advice.paid_survey import measure_activity as measure_activity
    from locentropy.evaluation.advice.paid_survey import survey_for as survey_for
    from locentropy.evaluation.input_check import CheckedInput as CheckedInput
    from locentropy.evaluation.input_check import check as check
    from locentropy.visits.queries import exact_profile as exact_profile
    from locentropy.visits.queries import open_queries as open_queries
    from locentropy.visits.queries import profile as profile

_HOMES = {
    "Bounds": "core.bounds",
    "CheckedInput": "evaluation.input_check",
    "VisitProfile": "core.visit_profile",
    "check": "evaluation.input_check",
    "exact_profile": "visits.queries",
    "measure_activity": "evaluation.advice.paid_survey",
    "open_queries": "visits.queries",
    "profile": "visits.queries",
    "survey_for": "evaluation.advice.paid_survey",
}

__all__ = [
    "Bounds",
    "CheckedInput",
    "VisitProfile",
    "check",
    "exact_profile",
    "measure_activity",
    "open_queries",
    "profile",
    "survey_for",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
