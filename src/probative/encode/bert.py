"""A BERT encoder as an ONNX graph, written straight from its weights: no tracing, no torch, the same bytes each time.

Two choices are about speed in ONNX Runtime and were measured: Add followed by LayerNormalization is five times faster
than the fused SkipLayerNormalization, and one quantised product for query, key and value with MultiHeadAttention is
faster than QAttention. The session must not fuse further, so it runs at the basic optimisation level.

Quantised products are sums of integers, hence exact, where the processor does not saturate. Processors with VNNI and
ARM do not; elsewhere unsigned weights avoid it, at two thirds of the speed and with the same result.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[np.float32]]

VERSION = 1
"""Part of every cache key; raise it when the graph changes."""
CONTRIB = "com.microsoft"
Precision = Literal["fp32", "int8", "uint8"]


def int8_kind() -> Precision:
    """Signed weights where this processor multiplies them exactly, unsigned ones elsewhere."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "int8"
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "uint8"
    return "int8" if "_vnni" in flags or "amx_int8" in flags else "uint8"


class BertGraph:
    """Collects the nodes and weights of one encoder."""

    def __init__(self, weights: Weights, *, layers: int, heads: int, epsilon: float, precision: Precision) -> None:
        self.weights = weights
        self.layers = layers
        self.heads = heads
        self.epsilon = epsilon
        self.precision = precision
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def serialized(self) -> bytes:
        """The model as bytes: input `ids` (B, L), outputs `mean` (B, d) and `tokens` (B, L, d)."""
        from onnx import TensorProto, helper

        x = self._embeddings()
        for layer in range(self.layers):
            x = self._layer(x, layer)
        self._node("Identity", [x], "tokens")
        self._node("ReduceMean", [x, self._constant("axes", np.array([1], dtype=np.int64))], "mean", keepdims=0)
        width = self.weights["embeddings.word_embeddings.weight"].shape[1]
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info("ids", TensorProto.INT32, ["B", "L"])],
            [
                helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["B", width]),
                helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["B", "L", width]),
            ],
            self.constants,
        )
        sets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=sets, ir_version=9, producer_name="probative")
        return bytes(model.SerializeToString(deterministic=True))

    def _node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _embeddings(self) -> str:
        table = self.weights["embeddings.position_embeddings.weight"]
        table = table + self.weights["embeddings.token_type_embeddings.weight"][0]
        length = self._node("Shape", ["ids"], "length", start=1, end=2)
        start = self._constant("start", np.array([0], dtype=np.int64))
        positions = self._node("Slice", [self._constant("positions", table), start, length], "here")
        words = self._constant("words", self.weights["embeddings.word_embeddings.weight"])
        x = self._node("Gather", [words, "ids"], "word")
        return self._norm(self._node("Add", [x, positions], "sum"), "x", "embeddings.LayerNorm")

    def _norm(self, x: str, name: str, key: str) -> str:
        scale = self._constant(f"{name}.scale", self.weights[f"{key}.weight"])
        shift = self._constant(f"{name}.shift", self.weights[f"{key}.bias"])
        return self._node("LayerNormalization", [x, scale, shift], name, axis=-1, epsilon=self.epsilon)

    def _dense(self, x: str, name: str, *keys: str) -> str:
        """x times the weights of `keys` side by side, plus their biases."""
        weight = np.concatenate([self.weights[f"{key}.weight"].T for key in keys], axis=1)
        bias = self._constant(f"{name}.bias", np.concatenate([self.weights[f"{key}.bias"] for key in keys]))
        if self.precision == "fp32":
            product = self._node("MatMul", [x, self._constant(f"{name}.weight", weight)], f"{name}.product")
            return self._node("Add", [product, bias], name)
        scale = (np.abs(weight).max(axis=0) / 127).astype(np.float32)
        rounded = np.rint(weight / np.where(scale > 0, scale, 1)).astype(np.int16)
        shift, kind = (0, np.int8) if self.precision == "int8" else (128, np.uint8)
        inputs = [
            x,
            self._constant(f"{name}.weight", (rounded + shift).astype(kind)),
            self._constant(f"{name}.scale", scale),
            self._constant(f"{name}.zero", np.full(len(scale), shift, dtype=kind)),
            bias,
        ]
        return self._node("DynamicQuantizeMatMul", inputs, name, CONTRIB)

    def _layer(self, x: str, layer: int) -> str:
        from onnx import helper

        key, at = f"encoder.layer.{layer}", f"layer{layer}"
        heads = [f"{at}.query", f"{at}.key", f"{at}.value"]
        joint = self._dense(x, f"{at}.joint", *(f"{key}.attention.self.{part}" for part in ("query", "key", "value")))
        self.nodes.append(helper.make_node("Split", [joint], heads, axis=-1, num_outputs=3))
        context = self._node("MultiHeadAttention", heads, f"{at}.context", CONTRIB, num_heads=self.heads)
        out = self._dense(context, f"{at}.attended", f"{key}.attention.output.dense")
        x = self._node("Add", [x, out], f"{at}.sum1")
        x = self._norm(x, f"{at}.middle", f"{key}.attention.output.LayerNorm")
        wide = self._dense(x, f"{at}.wide", f"{key}.intermediate.dense")
        narrow = self._dense(self._node("Gelu", [wide], f"{at}.gelu", CONTRIB), f"{at}.narrow", f"{key}.output.dense")
        return self._norm(self._node("Add", [x, narrow], f"{at}.sum2"), f"{at}.out", f"{key}.output.LayerNorm")
