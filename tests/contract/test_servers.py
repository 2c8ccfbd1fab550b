"""How a model server is asked, and what is said when it misbehaves."""

from __future__ import annotations

import json
import logging
import socket
import urllib.request

import numpy as np
import pytest

from probative.encode import EncodeSettings, ServerSettings
from probative.encode.http import Http
from probative.encode.server import Server
from probative.encode.settings import base_url
from probative.errors import ModelError, Unreachable

TEXTS = ["a secret sentence", "another", "a third", "a fourth", "a fifth"]


def http(address: str, **server: object) -> Http:
    settings = EncodeSettings(model=address, server=ServerSettings.model_validate({"batch_size": 2, **server}))
    waits: list[float] = []
    encoder = Http(settings, Server(base_url(address), settings.server, waits.append))
    encoder.waits = waits  # type: ignore[attr-defined]
    return encoder


def test_texts_are_sent_in_batches(model_server: str) -> None:
    http(model_server).encode(TEXTS)
    with urllib.request.urlopen(model_server.removeprefix("http:") + "/calls") as answer:  # noqa: S310 (our own server)
        assert json.load(answer)["batches"][-3:] == [2, 2, 1]


def test_answers_are_put_in_order_by_index(model_server: str) -> None:
    expected = http(model_server).encode(TEXTS)
    assert expected.tobytes() == http(f"{model_server}/shuffled").encode(TEXTS).tobytes()


def test_an_overloaded_server_is_asked_again_with_growing_patience(model_server: str) -> None:
    encoder = http(f"{model_server}/flaky-vectors")
    assert encoder.encode(TEXTS[:1]).shape == (1, 16)
    assert encoder.waits == [0.5, 1.0]  # type: ignore[attr-defined]


def test_a_slow_server_is_given_up_with_advice(model_server: str) -> None:
    with pytest.raises(Unreachable, match=r"2 tries \(ReadTimeout\).*server\.timeout"):
        http(f"{model_server}/slow", timeout=0.2, retries=1).encode(TEXTS[:1])


def test_an_absent_server_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http:http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unreachable, match=r"/v1/embeddings: no answer after 3 tries .*Is the server running"):
        http(address, retries=2).encode(TEXTS[:1])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("short", "answered 1 rows for 2 texts"),
        ("text", "not JSON"),
        ("refuse", r"status 413.*length"),
        ("locked", r"wants a key.*\$PROBATIVE_API_KEY"),
    ],
)
def test_a_wrong_answer_is_explained_without_repeating_a_text(
    model_server: str, caplog: pytest.LogCaptureFixture, fault: str, message: str
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError, match=message) as error:
        http(f"{model_server}/{fault}").encode(TEXTS)
    assert "secret" not in str(error.value) + caplog.text


def test_the_key_comes_from_the_environment(model_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", "open")
    assert http(f"{model_server}/locked", api_key_env="TEST_KEY").encode(TEXTS[:1]).shape == (1, 16)


def test_a_prompt_stands_before_criteria_only(model_server: str) -> None:
    plain = http(model_server)
    prompted = Http(EncodeSettings(model=model_server, criterion_prompt="Query: "))
    np.testing.assert_array_equal(plain.encode(["Query: a"], "criterion"), prompted.encode(["a"], "criterion"))
    np.testing.assert_array_equal(plain.encode(["a"]), prompted.encode(["a"]))
    assert plain.identity != prompted.identity


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("http:http://host:8000/", "http://host:8000"),
        ("http:host:8000", "http://host:8000"),
        ("http://host:8000", "http://host:8000"),
        ("http:https://host/x", "https://host/x"),
    ],
)
def test_an_address_may_be_written_in_several_ways(model: str, expected: str) -> None:
    assert expected == base_url(model)
