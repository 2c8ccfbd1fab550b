"""JSON as strangers write it: what Python reads but no table can hold is an error too."""

from __future__ import annotations

import json
import re
from typing import Any

HALVES = re.compile(rb"\\u[dD][89a-fA-F]")
"""The escapes of characters that JSON writes in two halves; a text cut between them keeps one."""


def loads(text: str) -> Any:
    """The value; JSONDecodeError as well for nesting too deep to follow and for halves of characters."""
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deeply", text, 0) from None
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        what = f"it holds half a character, {half}: a program cut the text inside one"
        raise json.JSONDecodeError(what, text, max(text.lower().find(half), 0)) from None
    return value
