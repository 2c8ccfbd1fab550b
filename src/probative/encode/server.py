"""Asking a model server: JSON over HTTP, with patience and without ever repeating a text in a message or a log."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from probative.encode.settings import ServerSettings
from probative.errors import ModelError, NotInstalled, Unreachable

FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0


class Server:
    """One server and how it is asked."""

    def __init__(self, url: str, settings: ServerSettings, sleep: Callable[[float], None] = time.sleep) -> None:
        self.url = url
        self.settings = settings
        self._sleep = sleep

    def post(self, path: str, payload: dict[str, Any]) -> Any:
        """The JSON answer; tries again on time-outs, refused connections and overload."""
        try:
            import httpx
        except ImportError as error:
            raise NotInstalled(f"The model server {self.url}", "models") from error
        if self.settings.model:
            payload = {"model": self.settings.model, **payload}
        key = os.environ.get(self.settings.api_key_env)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        address = f"{self.url}{path}"
        trouble = ""
        with httpx.Client(timeout=self.settings.timeout, headers=headers) as client:
            for attempt in range(self.settings.retries + 1):
                if attempt:
                    self._sleep(min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT))
                try:
                    response = client.post(address, json=payload)
                except httpx.TransportError as error:
                    trouble = f"{type(error).__name__}"
                    continue
                if response.status_code < 500 and response.status_code not in (408, 429):
                    return self._read(response, address)
                trouble = f"status {response.status_code}"
        raise Unreachable(
            f"{address}: no answer after {self.settings.retries + 1} tries ({trouble}). Is the server running, and is "
            f"this its address? A slow model needs a longer `server.timeout` (now {self.settings.timeout:g} s) or a "
            f"smaller `server.batch_size` (now {self.settings.batch_size})."
        )

    def _read(self, response: Any, address: str) -> Any:
        status = response.status_code
        if status in (401, 403):
            raise ModelError(
                f"{address}: the server wants a key (status {status}). Put it into ${self.settings.api_key_env}."
            )
        if not 200 <= status < 300:
            raise ModelError(
                f"{address}: the server refused the request (status {status}). Check the path, `server.model`, and "
                "whether the model takes texts of this length."
            )
        try:
            return response.json()
        except ValueError:
            raise ModelError(f"{address}: answered with something that is not JSON. Is this a model server?") from None


def in_order(rows: Any, expected: int, value: str, source: str) -> list[Any]:
    """The values of a list of `{"index": …, value: …}`, by index, once each."""
    try:
        found = {int(row["index"]): row[value] for row in rows}
    except (TypeError, KeyError, ValueError):
        raise ModelError(f"{source}: the answer has no list of `index` and `{value}`.") from None
    if len(rows) != expected or set(found) != set(range(expected)):
        raise ModelError(f"{source}: answered {len(rows)} rows for {expected} texts.")
    return [found[i] for i in range(expected)]
