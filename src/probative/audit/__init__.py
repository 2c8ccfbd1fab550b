"""The second opinion: recompute, check, and refuse what does not hold.

Nothing here knows how the numbers were made: no import of metrics, evaluate or data, directly or through others.
"""

from __future__ import annotations

from probative.audit.check import Check
from probative.audit.leaks import leakage
from probative.audit.publish import publication
from probative.audit.statement import checklist, data_statement
from probative.audit.verify import audit

__all__ = ["Check", "audit", "checklist", "data_statement", "leakage", "publication"]
