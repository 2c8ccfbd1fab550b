"""Text to vectors: model back ends behind one protocol, cached."""

from probative.encode.encoder import Encoder, Kind, Progress
from probative.encode.late import late_interaction
from probative.encode.settings import EncodeSettings, ServerSettings
from probative.encode.vectors import encoder_for, vectors_for

__all__ = [
    "EncodeSettings",
    "Encoder",
    "Kind",
    "Progress",
    "ServerSettings",
    "encoder_for",
    "late_interaction",
    "vectors_for",
]
