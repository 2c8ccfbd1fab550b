"""A model folder is read only when every file in it is listed, unchanged and data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from probative import ModelError
from probative.pipeline import model_folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "stages").mkdir(parents=True)
    (folder / "stages" / "words.json").write_text('{"n": 3}')
    (folder / "README.md").write_text("A model.")
    model_folder.seal(folder, {"settings": {}})
    return folder


def change_facts(folder: Path, **facts: object) -> None:
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **facts}))


def test_a_sealed_folder_opens(model: Path) -> None:
    assert model_folder.check(model)["settings"] == {}


def test_a_changed_byte_is_refused(model: Path) -> None:
    (model / "stages" / "words.json").write_text('{"n": 4}')
    with pytest.raises(ModelError, match=r"words\.json: has changed"):
        model_folder.check(model)


def test_a_missing_file_is_refused(model: Path) -> None:
    (model / "stages" / "words.json").unlink()
    with pytest.raises(ModelError, match=r"words\.json: is missing"):
        model_folder.check(model)


def test_a_newer_schema_is_refused_with_the_version_that_made_it(model: Path) -> None:
    change_facts(model, schema_version=2, probative="9.9")
    with pytest.raises(ModelError, match=r"schema version 2.*made by probative 9\.9"):
        model_folder.check(model)


def test_a_pickle_that_slipped_in_is_refused(model: Path) -> None:
    (model / "stages" / "extra.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(ModelError, match=r"extra\.pkl: is not part of this model"):
        model_folder.check(model)


def test_a_listed_pickle_is_refused_too(model: Path) -> None:
    (model / "stages" / "extra.pkl").write_bytes(b"\x80\x04.")
    model_folder.seal(model, {})
    with pytest.raises(ModelError, match=r"holds only \.json"):
        model_folder.check(model)


@pytest.mark.parametrize("name", ["../outside.json", "/etc/outside.json", "stages/../../outside.json", "a\\b.json"])
def test_a_path_that_points_outside_is_refused(model: Path, name: str) -> None:
    (model.parent / "outside.json").write_text("{}")
    change_facts(model, files={name: "0" * 64})
    with pytest.raises(ModelError, match="points outside the model"):
        model_folder.check(model)


def test_a_link_is_refused(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    target.write_text((model / "stages" / "words.json").read_text())
    (model / "stages" / "words.json").unlink()
    (model / "stages" / "words.json").symlink_to(target)
    with pytest.raises(ModelError, match="is a link"):
        model_folder.check(model)


@pytest.mark.parametrize("text", ["", "[]", "not json", '{"kind": "run"}'])
def test_a_broken_description_is_refused(model: Path, text: str) -> None:
    (model / "model.json").write_text(text)
    with pytest.raises(ModelError, match=r"model\.json"):
        model_folder.check(model)


def test_a_folder_that_is_no_model_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="probative fit"):
        model_folder.check(tmp_path)


@pytest.mark.parametrize("name", ["a\0.json", "x" * 5000 + ".json", ""])
def test_a_name_that_no_file_can_have_is_refused(model: Path, name: str) -> None:
    change_facts(model, files={name: "0" * 64})
    with pytest.raises(ModelError):
        model_folder.check(model)


def test_json_without_end_is_refused(model: Path) -> None:
    (model / "model.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match="cannot be read"):
        model_folder.check(model)
