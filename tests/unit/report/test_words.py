"""Numbers and hostile text as a reader may see them."""

from __future__ import annotations

import pytest

from probative.report import page, words


@pytest.mark.parametrize(
    ("expected", "value"),
    [
        ("0.618", 0.61849),
        ("13.3", 13.333),
        ("1,234.5", 1234.5),
        ("–", None),
        ("14,770", 14770),
        ("−0.013", -0.0131),
        ("0.000", -0.00001),
    ],
)
def test_a_number_keeps_as_many_digits_as_it_means(expected: str, value: float | None) -> None:
    assert expected == words.number(value)


def test_an_interval_says_when_it_is_clopper_pearson() -> None:
    record = {"value": 0.5, "ci_low": 0.25, "ci_high": 1.0, "ci_method": "clopper_pearson_docs"}
    assert words.measured(record) == "0.500 [0.250, 1.000]*"
    assert words.measured({**record, "ci_method": "percentile"}) == "0.500 [0.250, 1.000]"
    assert words.measured({**record, "ci_low": None}) == "0.500"
    assert words.measured(None) == "–"


@pytest.mark.parametrize("text", ["=cmd()", "+1+cmd", "-2+3", "@SUM(A1)", "\t=x", "\r=x"])
def test_formulas_become_text_in_csv(text: str) -> None:
    assert f"'{text}" == words.harmless(text)


@pytest.mark.parametrize("text", ["-0.5", "0.1", "+3", "-1e-05", "", "a=b", "−0.3"])
def test_numbers_and_plain_words_stay_as_they_are_in_csv(text: str) -> None:
    assert text == words.harmless(text)


@pytest.mark.parametrize(("expected", "p"), [("0.402", 0.40159), ("0.0004", 0.00039), ("1.000", 1.0), ("–", None)])
def test_a_p_value_keeps_four_places_only_where_it_is_small(expected: str, p: float | None) -> None:
    assert expected == words.p_value(p)


@pytest.mark.parametrize(("expected", "p"), [("< 0.01", 0.0049), ("0.01", 0.005), ("> 0.99", 0.996), ("1", 1.0)])
def test_a_probability_never_rounds_to_certainty(expected: str, p: float) -> None:
    assert expected == words.chance(p)


def test_a_cell_of_ten_thousand_letters_does_not_fill_the_page() -> None:
    assert page.short("w" * 10_000) == "w" * 400 + "…"
    assert page.short("a sentence") == "a sentence"


def test_names_of_metrics_lead_to_the_glossary_and_other_code_does_not() -> None:
    assert page.ticks("`ece` of `RUN <b>`") == '<a href="#m-ece"><code>ece</code></a> of <code>RUN &lt;b&gt;</code>'
    assert page.breakable("k_mean<b>") == "k_<wbr>mean&lt;b&gt;"


def test_direction_overrides_and_control_characters_are_shown() -> None:
    assert words.visible("a\u202eb\u2066c\x00d\u200e") == "a⟨U+202E⟩b⟨U+2066⟩c⟨U+0000⟩d⟨U+200E⟩"


def test_other_scripts_emoji_and_their_joiners_stay() -> None:
    text = "שלום नमस्ते 👩\u200d💻 é\n"
    assert text == words.visible(text)


def test_latex_reads_nothing_as_its_own() -> None:
    assert words.latex(r"50 % of_a & b $x$ #1 {~^\}") == (
        r"50 \% of\_a \& b \$x\$ \#1 \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}"
    )
    assert words.latex("[0.1, 0.2]*").startswith("{[}")
    assert "≥" not in words.latex("≥ 0.85")
