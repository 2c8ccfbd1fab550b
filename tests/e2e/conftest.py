"""Headless Chromium for the tests of pages; a run folder to make pages from."""

from __future__ import annotations

import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
MAKERS = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "report" / "conftest.py"))


@dataclass
class Opened:
    """A page, and what it said and asked for."""

    page: Any
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """Serious and critical findings of axe-core."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{v['id']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0]['failureSummary'][:300]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser; without one the tests are skipped, or fail where it is required."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        why = "no chromium is installed (Debian: apt-get install chromium)"
        if os.environ.get("PROBATIVE_REQUIRE_BROWSER") == "1":
            pytest.fail(why)
        pytest.skip(why)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def show(chromium: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a file with every request but the file itself refused and noted."""
    contexts = []

    def open_page(path: Path, **options: Any) -> Opened:
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        opened = Opened(context.new_page())
        url = path.resolve().as_uri()

        def guard(route: Any) -> None:
            if route.request.url.partition("#")[0] == url:
                route.continue_()
                return
            if not route.request.url.startswith("data:"):
                opened.requests.append(route.request.url)
            route.abort()

        opened.page.route("**/*", guard)
        opened.page.on("console", lambda message: opened.said.append(f"{message.type}: {message.text}"))
        opened.page.on("pageerror", lambda error: opened.said.append(f"error: {error}"))
        opened.page.on("dialog", lambda dialog: (opened.said.append("dialog"), dialog.dismiss()))
        opened.page.goto(url)
        return opened

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def made_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated run folder with hostile names."""
    return Path(MAKERS["make_run"](tmp_path_factory.mktemp("pages") / "run"))


@pytest.fixture(scope="session")
def made_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its documents, full of hostile text."""
    return Path(MAKERS["write_corpus"](tmp_path_factory.mktemp("pages") / "corpus"))
