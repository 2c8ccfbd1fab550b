"""Layers pass messages along edges only, and padding stays out."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from probative.graph.layers import AttentionPool, Gcn, Sage, Trunk
from probative.graph.losses import focal, margin, rank_loss
from probative.graph.settings import RankHead, TrunkSettings

LINE = torch.tensor([[[0.0, 1, 0], [1, 0, 0], [0, 0, 0]]])


def test_sage_adds_the_mean_of_the_neighbours() -> None:
    layer = Sage(2)
    with torch.no_grad():
        layer.own.weight.zero_(), layer.own.bias.zero_(), layer.others.weight.copy_(torch.eye(2))
    state = torch.tensor([[[1.0, 2], [3, 4], [5, 6]]])
    assert [[3, 4], [1, 2], [0, 0]] == layer(state, LINE)[0].tolist()


def test_gcn_mixes_a_node_with_its_neighbours() -> None:
    layer = Gcn(1)
    with torch.no_grad():
        layer.weight.weight.fill_(1), layer.weight.bias.zero_()
    assert pytest.approx([2, 2, 5]) == layer(torch.tensor([[[1.0], [3], [5]]]), LINE)[0, :, 0].detach().numpy()


@pytest.mark.parametrize("kind", ["sage", "gcn", "gat"])
def test_a_node_without_edges_hears_nobody(kind: str) -> None:
    torch.manual_seed(0)
    trunk = Trunk(TrunkSettings(layer=kind, hidden=8, heads=2, dropout=0)).eval()
    state = torch.randn(1, 3, 8)
    other = state.clone()
    other[0, 0] += 1
    with torch.no_grad():
        before, after = trunk(state, LINE), trunk(other, LINE)
    assert torch.equal(before[0, 2], after[0, 2])
    assert not torch.allclose(before[0, 1], after[0, 1])


def test_pooling_leaves_padding_out() -> None:
    pool = AttentionPool(4)
    state = torch.randn(1, 3, 4)
    louder = state.clone()
    louder[0, 2] = 100
    mask = torch.tensor([[True, True, False]])
    assert torch.allclose(pool(state, mask), pool(louder, mask))


def test_pairwise_margin_by_hand() -> None:
    score = torch.tensor([[1.0, 0.95, 0.2, 9.0]])
    gold = torch.tensor([[True, False, False, False]])
    mask = torch.tensor([[True, True, True, False]])
    assert pytest.approx(0.05 / 2, abs=1e-6) == float(margin(score, gold, mask, 0.1, 10))


def test_listwise_loss_is_the_share_of_the_evidence() -> None:
    score = torch.tensor([[0.0, 0.0], [5.0, 0.0]])
    gold = torch.tensor([[True, False], [False, False]])
    mask = torch.ones(2, 2, dtype=torch.bool)
    assert pytest.approx(np.log(2)) == float(rank_loss(score, gold, mask, RankHead()))


def test_focal_loss_forgets_easy_examples() -> None:
    easy, hard = focal(torch.tensor([4.0, -4.0]), torch.tensor([1, 1]), 2.0)
    plain_easy, plain_hard = focal(torch.tensor([4.0, -4.0]), torch.tensor([1, 1]), 0.0)
    assert easy < 0.01 * plain_easy
    assert hard > 0.9 * plain_hard
