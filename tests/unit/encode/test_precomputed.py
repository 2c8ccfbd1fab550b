from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from probative.encode import EncodeSettings, encoder_for
from probative.encode.precomputed import Precomputed
from probative.errors import ConfigError, DataError


def folder_with(path: Path, ids: list[str], vectors: list[list[float]]) -> Precomputed:
    pl.DataFrame({"sent_uid": ids, "vector": vectors}).write_parquet(path / "sentences.parquet")
    return Precomputed(path)


def test_rows_follow_the_ids_and_get_unit_length(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["a", "b"], [[3.0, 4.0], [0.0, 2.0]])
    np.testing.assert_allclose([[0, 1], [0.6, 0.8], [0, 1]], folder.vectors(["b", "a", "b"], "sentence"))


def test_missing_ids_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ["a"], [[1.0]])
    with pytest.raises(DataError, match="lacks 2 of 3 sent_uid, the first 'x'"):
        folder.vectors(["a", "x", "y"], "sentence")


def test_an_id_may_stand_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="more than once"):
        folder_with(tmp_path, ["a", "a"], [[1.0], [2.0]]).vectors(["a"], "sentence")


def test_vectors_of_different_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="differ in length"):
        folder_with(tmp_path, ["a", "b"], [[1.0], [2.0, 3.0]]).vectors(["a"], "sentence")


def test_a_folder_without_tables_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"needs criteria\.parquet .* or criteria\.npy"):
        Precomputed(tmp_path).vectors(["a"], "criterion")


def test_ids_and_rows_must_be_as_many(tmp_path: Path) -> None:
    np.save(tmp_path / "sentences.npy", np.ones((3, 2)))
    (tmp_path / "sentences.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match="lists 2 ids"):
        Precomputed(tmp_path).vectors(["a"], "sentence")


def test_a_folder_encodes_no_new_text() -> None:
    with pytest.raises(ConfigError, match="cannot encode new texts"):
        encoder_for(EncodeSettings(model="precomputed:x"))
