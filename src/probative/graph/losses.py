"""What each head is asked to make small."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from probative.graph.model import Output
from probative.graph.settings import GraphSettings, NodeHead, RankHead


def total_loss(
    output: Output, gold: Tensor, known: Tensor, evidence: Tensor, mask: Tensor, settings: GraphSettings
) -> Tensor:
    """The sum of the heads' losses, each a mean over graphs.

    `gold` (B, n) marks evidence nodes, `known` (B,) the graphs whose evidence is located, `evidence` (B,) the queries
    that have any.
    """
    loss = torch.zeros(())
    if output.rank is not None:
        loss = loss + rank_loss(output.rank, gold, mask & known[:, None], settings.rank)
    if output.node is not None:
        loss = loss + node_loss(output.node, gold, mask & known[:, None], settings.node)
    if output.gate is not None:
        loss = loss + focal(output.gate, evidence, settings.gate.focal).mean()
    return loss


def rank_loss(score: Tensor, gold: Tensor, mask: Tensor, head: RankHead) -> Tensor:
    """Listwise cross-entropy or pairwise margin over the graphs that have both evidence and other nodes."""
    both = (gold & mask).any(1) & (~gold & mask).any(1)
    if not both.any():
        return score.sum() * 0
    score, gold, mask = score[both], gold[both] & mask[both], mask[both]
    if head.loss == "pairwise":
        return margin(score, gold, mask, head.margin, head.pairs)
    share = gold.float() / gold.sum(1, keepdim=True)
    return -(score.masked_fill(~mask, -1e9).log_softmax(1) * share).sum(1).mean()


def margin(score: Tensor, gold: Tensor, mask: Tensor, width: float, pairs: int) -> Tensor:
    """Mean hinge over the lowest-scored evidence × the highest-scored other nodes, at most `pairs` of each."""
    size = min(pairs, score.shape[1])
    low, low_at = score.masked_fill(~gold, 1e9).topk(size, largest=False)
    high, high_at = score.masked_fill(gold | ~mask, -1e9).topk(size)
    real = gold.gather(1, low_at)[:, :, None] & (mask & ~gold).gather(1, high_at)[:, None, :]
    gap = (width - low[:, :, None] + high[:, None, :]).clamp(min=0)
    each = torch.where(real, gap, torch.zeros(())).sum((1, 2)) / real.sum((1, 2)).clamp(min=1)
    return each.mean()


def node_loss(logit: Tensor, gold: Tensor, mask: Tensor, head: NodeHead) -> Tensor:
    """Pointwise cross-entropy summed over a graph's nodes, with a pairwise margin beside it where wanted."""
    each = functional.binary_cross_entropy_with_logits(logit, gold.float(), reduction="none")
    loss = (each * mask).sum(1).mean()
    both = (gold & mask).any(1) & (~gold & mask).any(1)
    if head.margin_weight > 0 and both.any():
        loss = loss + head.margin_weight * margin(logit[both], gold[both] & mask[both], mask[both], 1.0, 10)
    return loss


def focal(logit: Tensor, target: Tensor, exponent: float) -> Tensor:
    """Cross-entropy, easy examples counting less as the exponent grows."""
    each = functional.binary_cross_entropy_with_logits(logit, target.float(), reduction="none")
    if exponent == 0:
        return each
    return each * (1 - torch.exp(-each)) ** exponent
