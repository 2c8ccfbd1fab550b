"""What may enter the decisions, and what is refused with a message."""

from __future__ import annotations

import numpy as np
import pytest

from probative.decide.labelled import Labelled, finite
from probative.errors import DataError


def test_a_score_that_is_not_finite_is_refused_with_its_row() -> None:
    with pytest.raises(DataError, match=r"scores: 1 of 3 values are not finite, the first is nan at row 1"):
        Labelled.of([0.1, np.nan, 0.3], [0, 1, 0])


def test_an_infinite_logit_is_refused() -> None:
    with pytest.raises(DataError, match="logits: 1 of 2"):
        finite([np.inf, 0.0], "logits")


def test_two_dimensional_scores_are_refused() -> None:
    with pytest.raises(DataError, match=r"shape \(2, 2\)"):
        finite([[1, 2], [3, 4]], "scores")


@pytest.mark.parametrize(
    ("labels", "groups", "message"),
    [
        ([0, 1], None, "labels: 2 rows, but there are 3 scores"),
        ([0, 1, 2], None, "labels: must be 0 or 1, got .*2.* at row 2"),
        ([0, 1, 1], ["a", "b"], "groups: 2 rows, but there are 3 scores"),
    ],
)
def test_columns_that_do_not_fit_are_refused(labels: list[int], groups: list[str] | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Labelled.of([0.1, 0.2, 0.3], labels, groups)


def test_no_rows_are_refused() -> None:
    with pytest.raises(DataError, match="no rows"):
        Labelled.of([], [])


def test_documents_are_numbered_in_the_order_of_their_ids() -> None:
    assert Labelled.of([1, 2, 3, 4], [0, 0, 0, 0], ["d10", "d1", "d2", "d10"]).document.tolist() == [1, 0, 2, 1]


def test_the_lowest_positive_of_each_document_is_found_and_documents_without_positives_drop_out() -> None:
    rows = Labelled.of([3, 1, 2, 0, -9], [1, 1, 1, 0, 0], ["a", "a", "b", "b", "c"])
    assert rows.lowest_positive().tolist() == [1.0, 2.0]
