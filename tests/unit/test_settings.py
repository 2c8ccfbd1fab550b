"""Settings come in layers, refuse unknown names with the nearest valid one, and know where they came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from probative.errors import ConfigError
from probative.settings import Layer, Settings, flatten_fields, parse_set, read_yaml, resolve, to_yaml


class Decide(Settings):
    fpr_budget: float = 0.05
    method: str = "grid"


class House(Settings):
    seed: int = 42
    decide: Decide = Decide()


def layer(origin: str, **values: Any) -> Layer:
    return Layer(origin=origin, values=values)


def test_later_layers_win_and_every_value_knows_its_origin() -> None:
    found = resolve(
        House, [layer("preset", seed=1, decide={"method": "fixed"}), layer("a.yaml", decide={"fpr_budget": 0.03})]
    )

    assert found.settings == House(seed=1, decide=Decide(fpr_budget=0.03, method="fixed"))
    assert found.lines() == [
        ("seed", 1, "preset"),
        ("decide.fpr_budget", 0.03, "a.yaml"),
        ("decide.method", "fixed", "preset"),
    ]


def test_without_layers_everything_is_a_default() -> None:
    assert {origin for _, _, origin in resolve(House, []).lines()} == {"default"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sed": 1}, "sed (a.yaml): unknown setting. Did you mean 'seed'?"),
        (
            {"decide": {"fpr_budgt": 0.1}},
            "decide.fpr_budgt (a.yaml): unknown setting. Did you mean 'decide.fpr_budget'?",
        ),
        ({"fpr_budget": 0.1}, "fpr_budget (a.yaml): unknown setting. Did you mean 'decide.fpr_budget'?"),
        ({"zzz": 1}, "zzz (a.yaml): unknown setting. Valid names: decide, seed."),
        ({"zzz": {"deep": 1}}, "zzz (a.yaml): unknown setting. Valid names: decide, seed."),
        ({"decide": {"method": {"a": 1}}}, "decide.method (a.yaml): Input should be a valid string; got {'a': 1}."),
        ({"decide": 3}, "decide (a.yaml): Input should be a valid dictionary or instance of Decide; got 3."),
    ],
)
def test_a_wrong_setting_is_told_with_its_place_and_the_nearest_name(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(House, [Layer(origin="a.yaml", values=values)])

    assert str(caught.value) == said


def test_all_wrong_settings_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(House, [layer("a.yaml", sed=1, decide={"methd": "x"})])

    assert str(caught.value).count("unknown setting") == 2


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        House().seed = 3  # type: ignore[misc]


def test_every_valid_name_is_listed() -> None:
    assert list(flatten_fields(House)) == ["seed", "decide", "decide.fpr_budget", "decide.method"]


def test_set_reads_values_as_yaml_and_merges() -> None:
    found = parse_set(["decide.fpr_budget=0.03", "decide.method=fixed", "seed=7"])

    assert (found.origin, found.values) == ("--set", {"decide": {"fpr_budget": 0.03, "method": "fixed"}, "seed": 7})


@pytest.mark.parametrize("text", ["seed", "=3", "seed=[1"])
def test_a_malformed_set_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(ConfigError, match=f"--set {text.replace('[', '.')}"):
        parse_set([text])


def test_yaml_files_become_layers(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("seed: 3\n", encoding="utf-8")
    (tmp_path / "empty.yaml").write_text("# nothing yet\n", encoding="utf-8")

    assert read_yaml(tmp_path / "a.yaml") == Layer(origin=str(tmp_path / "a.yaml"), values={"seed": 3})
    assert read_yaml(tmp_path / "empty.yaml").values == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"seed: [", "is not valid YAML"),
        (b"- 1\n", "not a list"),
        (b"seed: \xff", "is not valid YAML"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_yaml_file_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "a.yaml").write_bytes(content)

    with pytest.raises(ConfigError, match=f"a.yaml: .*{said}"):
        read_yaml(tmp_path / "a.yaml")


def test_resolved_settings_read_back_as_they_were() -> None:
    settings = House(seed=9, decide=Decide(method="guaranteed"))

    values = yaml.safe_load(to_yaml(settings))

    assert list(values) == ["seed", "decide"]
    assert resolve(House, [Layer(origin="config.yaml", values=values)]).settings == settings


def test_a_value_laid_over_a_group_takes_its_origin() -> None:
    found = resolve(House, [layer("a.yaml", decide={"method": "x"}), layer("b.yaml", decide={"method": "y"})])

    assert found.origins["decide.method"] == "b.yaml"
