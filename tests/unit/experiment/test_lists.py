"""List columns keep every value, also empty lists, and their JSON can be read back whatever the uids hold."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from probative.experiment import lists


def test_every_segment_becomes_a_list_also_an_empty_one() -> None:
    made = lists.column(pl.Series(["a", "b", "c"]), np.array([0, 0, 2, 2, 3, 3]))
    assert [[], ["a", "b"], [], ["c"], []] == made.to_list()


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), min_size=1, max_size=5))
def test_json_of_any_uids_reads_back(rows: list[list[str]]) -> None:
    table = pl.DataFrame({"uids": pl.Series(rows, dtype=pl.List(pl.String))})
    assert rows == [json.loads(cell) for cell in lists.as_json(table)["uids"]]


def test_numbers_keep_their_digits() -> None:
    table = pl.DataFrame({"x": pl.Series([[0.1, 2.0], []], dtype=pl.List(pl.Float64))})
    assert [[0.1, 2.0], []] == [json.loads(cell) for cell in lists.as_json(table)["x"]]
