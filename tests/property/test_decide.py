"""What holds for decisions whatever the scores."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from probative import segments
from probative.decide import (
    Calibrator,
    Limits,
    Policy,
    assign_states,
    certify,
    choose_threshold,
    equal_mean,
    head_rows,
    select,
    sigmoid,
    triage_by_grid,
)

LOGITS = st.floats(-30, 30).map(lambda z: round(z, 3))
QUERIES = st.lists(st.tuples(LOGITS, st.booleans(), st.integers(0, 9)), min_size=1, max_size=60)
SHARES = st.floats(0, 1)


def columns(rows: list[tuple[float, bool, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z, y, group = zip(*rows, strict=True)
    return np.array(z), np.array(y), np.array(group)


@settings(max_examples=80, deadline=None)
@given(QUERIES, st.lists(LOGITS, min_size=2, max_size=20))
def test_calibration_keeps_the_order_and_stays_inside(rows: list[tuple[float, bool, int]], new: list[float]) -> None:
    p = Calibrator().fit(*columns(rows)).predict(sorted(new))
    assert (np.diff(p) >= 0).all()
    assert ((p > 0) & (p < 1)).all()


@settings(max_examples=80, deadline=None)
@given(QUERIES)
def test_calibration_makes_no_ties_where_doubles_can_tell(rows: list[tuple[float, bool, int]]) -> None:
    fitted = Calibrator(["isotonic"]).fit(*columns(rows))
    assert (np.diff(fitted.predict(np.arange(-10, 10, 0.05))) > 0).all()


@settings(max_examples=100, deadline=None)
@given(QUERIES, LOGITS, LOGITS)
def test_a_higher_threshold_never_raises_sensitivity(rows: list[tuple[float, bool, int]], a: float, b: float) -> None:
    z, y, _ = columns(rows)
    assume(y.any())
    low, high = min(a, b), max(a, b)
    assert (z >= high)[y].mean() <= (z >= low)[y].mean()
    kept = [(assign_states(z, tau, 99.0) > 0)[y].mean() for tau in (low, high)]
    assert kept[1] <= kept[0]


@settings(max_examples=100, deadline=None)
@given(QUERIES, SHARES, SHARES)
def test_the_budget_is_kept_and_a_larger_one_never_finds_less(
    rows: list[tuple[float, bool, int]], a: float, b: float
) -> None:
    z, y, _ = columns(rows)
    tight, loose = (choose_threshold(z, y, budget) for budget in sorted((a, b)))
    assert tight.tpr <= loose.tpr
    for point in (tight, loose):
        assert point.fpr <= point.fpr_budget
        passed = point.predict(z)
        if y.any():
            assert point.tpr == passed[y].mean()
        # No threshold among the scores does better within the budget.
        for cut in z:
            if y.any() and not y.all() and (z >= cut)[~y].mean() <= point.fpr_budget:
                assert (z >= cut)[y].mean() <= point.tpr


@settings(max_examples=100, deadline=None)
@given(QUERIES, st.lists(LOGITS, min_size=1, max_size=30))
def test_states_partition_and_thresholds_are_in_order(rows: list[tuple[float, bool, int]], new: list[float]) -> None:
    z, y, _ = columns(rows)
    found = triage_by_grid(sigmoid(z), y)
    assert found.tau_neg <= found.tau_pos
    p = sigmoid(new)
    state = found.assign(p)
    assert set(state.tolist()) <= {0, 1, 2}
    assert (state[np.argsort(p)] == np.sort(state)).all()


@settings(max_examples=60, deadline=None)
@given(QUERIES, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_stricter_promise_never_skips_more(rows: list[tuple[float, bool, int]], a: float, b: float) -> None:
    assume(any(label for _, label, _ in rows))
    loose, strict = (certify(*columns(rows), target=target) for target in sorted((a, b)))
    if strict.certified:
        assert loose.certified
        assert strict.raw is not None
        assert loose.raw is not None
        assert strict.raw <= loose.raw


POLICIES = st.builds(
    Policy,
    kind=st.sampled_from(["mass", "threshold", "gap", "fixed"]),
    gamma=SHARES,
    tau=SHARES,
    k=st.integers(0, 12),
    limits=st.builds(
        Limits,
        k_min=st.integers(0, 6),
        hard_cap=st.integers(0, 12),
        k_max_ratio=SHARES,
        rounding=st.sampled_from(["floor", "ceil"]),
    ),
)
DOCUMENTS = st.lists(st.lists(st.floats(0, 1), max_size=25), max_size=8)


def flat(documents: list[list[float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    offsets = segments.from_lengths(np.array([len(d) for d in documents], dtype=np.int64))
    prob = np.array([p for d in documents for p in d], dtype=np.float64)
    return np.arange(prob.size), prob, offsets


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, POLICIES, st.data())
def test_every_selection_respects_its_limits(documents: list[list[float]], policy: Policy, data: st.DataObject) -> None:
    order, prob, offsets = flat(documents)
    pool = np.array(data.draw(st.lists(st.booleans(), min_size=prob.size, max_size=prob.size)), dtype=bool)
    size = select(order, prob, pool, offsets, policy)
    n = np.diff(offsets)
    low, high = policy.limits.bounds(n)
    assert ((low <= size) & (size <= high) & (high <= n)).all()
    assert size.tolist() == segments.total(head_rows(order, size, offsets), offsets).astype(int).tolist()


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS, SHARES, SHARES)
def test_mass_never_shows_less_for_a_larger_share(documents: list[list[float]], a: float, b: float) -> None:
    limits = Limits(k_min=0, hard_cap=50, k_max_ratio=1.0)
    few, many = (select(*_rows(documents), Policy(gamma=gamma, limits=limits)) for gamma in sorted((a, b)))
    assert (few <= many).all()


def _rows(documents: list[list[float]]) -> tuple[np.ndarray, np.ndarray, None, np.ndarray]:
    order, prob, offsets = flat(documents)
    return order, prob, None, offsets


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), SHARES), min_size=1, max_size=30))
def test_the_fixed_rival_shows_exactly_as_much(rows: list[tuple[int, float]]) -> None:
    n = np.array([k for k, _ in rows])
    sizes = np.floor(n * np.array([share for _, share in rows])).astype(np.int64)
    fixed = equal_mean(sizes, n)
    assert sizes.sum() == fixed.sum()
    assert (fixed <= n).all()
    # Whoever could show more shows at most one less than anyone.
    able = fixed[fixed < n]
    assert fixed.max() <= able.min(initial=99) + 1
