"""Models that the tests make, a server that they start, and views to encode."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from probative import segments
from probative.types import Role, View

LETTERS = [chr(i) for i in range(97, 123)]
WORDS = ["the", "fee", "is", "due", "term", "ends", "party", "may", "law", "of"]


@pytest.fixture(scope="session")
def model_server() -> Iterator[str]:
    """The address of a running server."""
    command = [sys.executable, str(Path(__file__).with_name("model_server.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http:http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


def _tiny_bert(folder: Path, head: str) -> Path:
    """A random BERT of two layers with the vocabulary above, saved as the hub saves models."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *LETTERS, *(f"##{x}" for x in LETTERS)]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=64, **{f"{k}_token": v for k, v in special.items()}
    ).save_pretrained(folder)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, num_labels=1, **size)
    torch.manual_seed(0)
    getattr(transformers, head)(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small sentence-transformers model."""
    modules = pytest.importorskip("sentence_transformers").sentence_transformer.modules
    folder = tmp_path_factory.mktemp("encoder")
    transformer = modules.Transformer(str(_tiny_bert(folder / "bert", "BertModel")))
    sentence_transformers = pytest.importorskip("sentence_transformers")
    sentence_transformers.SentenceTransformer(modules=[transformer, modules.Pooling(32)]).save(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="session")
def tiny_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small cross-encoder with one output."""
    return _tiny_bert(tmp_path_factory.mktemp("cross"), "BertForSequenceClassification")


def uids(texts: Sequence[str]) -> tuple[str, ...]:
    """Ids that are made from the text and its repetition."""
    seen: Counter[str] = Counter()
    out = []
    for text in texts:
        out.append(f"{hashlib.sha256(text.encode()).hexdigest()[:12]}-{seen[text]}")
        seen[text] += 1
    return tuple(out)


def view_of(texts: Sequence[str], criteria: Sequence[str] = ()) -> View:
    """One document that asks every criterion."""
    return View(
        role=Role.NEW,
        doc_ids=("d",),
        doc_offsets=segments.from_lengths(np.array([len(texts)])),
        sent_uids=uids(texts),
        texts=tuple(texts),
        criterion_ids=uids(criteria),
        criterion_texts=tuple(criteria),
        query_doc=np.zeros(len(criteria), dtype=np.int64),
        query_criterion=np.arange(len(criteria)),
    )


@pytest.fixture(scope="session")
def viewing() -> Callable[..., View]:
    return view_of
