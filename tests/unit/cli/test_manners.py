"""How every command speaks: exit codes, one voice for errors, JSON alone, nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from probative.cli import manners
from probative.cli.app import run
from probative.errors import CheckFailed, ConfigError, DataError, ModelError, NotInstalled, ProbativeError, Unreachable


def raising(error: BaseException) -> int:
    def call() -> int:
        raise error

    return manners.guarded(call, debug=False)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("x"), 2),
        (ConfigError("x"), 2),
        (ModelError("x"), 2),
        (Unreachable("x"), 2),
        (ProbativeError("x"), 2),
        (NotInstalled("Training", "models"), 2),
        (CheckFailed("x"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_deliberate_error_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert raising(error) == code

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert "Traceback" not in shown.err


def test_a_command_that_says_nothing_ends_with_0() -> None:
    assert [manners.guarded(lambda: None, debug=False), manners.guarded(lambda: 1, debug=False)] == [0, 1]


def test_debug_shows_the_traceback_and_keeps_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    def call() -> int:
        raise DataError("what is wrong")

    assert manners.guarded(call, debug=True) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert shown.endswith("error: what is wrong\n")


def test_an_accident_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        raising(ZeroDivisionError())


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["data", "--debug", "demo"], (["data", "demo"], True)),
        (["data"], (["data"], False)),
        (["data", "--", "--debug"], (["data", "--", "--debug"], False)),
    ],
)
def test_debug_may_stand_anywhere_before_the_dashes(given: list[str], kept: tuple[list[str], bool]) -> None:
    assert manners.take_flag(given, "--debug") == kept


def test_json_stands_alone_and_refuses_nan(capsys: pytest.CaptureFixture[str]) -> None:
    manners.print_json({"ü": 1})

    assert json.loads(capsys.readouterr().out) == {"ü": 1}
    with pytest.raises(ValueError, match="Out of range"):
        manners.print_json(float("nan"))


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with manners.progress("work", total=2) as update:
        update(1, "half")

    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("", "")


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")

    manners.out().print("[red]word[/red]")

    assert capsys.readouterr().out == "word\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["data", "describe"],
        ["data", "describe", "nowhere"],
        ["data", "import", "nowhere", "-o", "x"],
        ["--nonsense"],
    ],
)
def test_wrong_use_ends_with_2_and_one_message(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err
    assert "Traceback" not in shown.err


def test_what_the_system_refuses_is_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["data", "validate", "a" * 300])

    told = capsys.readouterr().err
    assert (code, told.startswith("error: aaa"), "Traceback" in told) == (2, True, False)


def test_a_full_disk_behind_standard_output_is_one_message() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "probative", "metrics", "list"], stdout=full, stderr=subprocess.PIPE, text=True
        )

    assert (ended.returncode, ended.stderr.splitlines()[0][:6], "Traceback" in ended.stderr) == (2, "error:", False)


def test_version_and_help_end_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert [run(["--version"]), run(["--help"]), run(["data", "import", "--help"])] == [0, 0, 0]
    assert "Example: probative data import" in capsys.readouterr().out


def process(arguments: list[str], **options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "probative", *arguments], capture_output=True, text=True, env=os.environ | options
    )


def test_a_fresh_process_shows_no_traceback_unless_asked(tmp_path: Path) -> None:
    plain = process(["data", "describe", str(tmp_path / "nowhere")])
    asked = process(["data", "describe", str(tmp_path / "nowhere"), "--debug"])

    assert (plain.returncode, plain.stdout) == (2, "")
    assert plain.stderr == f"error: {tmp_path / 'nowhere'}: does not exist. Give the folder that holds the tables.\n"
    assert asked.returncode == 2
    assert "Traceback" in asked.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from probative.cli import manners; sys.exit(manners.guarded(lambda: print('x' * 10**6), False))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        assert writer.stdout.read(1) == b"x"
        writer.stdout.close()
        told = writer.stderr.read()

    assert (writer.returncode, told) == (0, b"")


def test_ctrl_c_ends_with_130_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from probative import files
        from probative.cli import manners

        def call():
            with files.writing_folder(Path(sys.argv[1])) as aside:
                (aside / "half").write_text("half")
                print("writing", flush=True)
                time.sleep(60)

        sys.exit(manners.guarded(call, debug=False))
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "run")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "writing\n"
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)

    assert running.returncode == 130
    assert told == "interrupted: nothing half-written was left behind.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        *("", "run", "evaluate", "compare", "ablate", "tune", "report", "verify", "fit", "screen", "doctor"),
        *("data", "data import", "data validate", "data describe", "data demo"),
        *("metrics", "metrics list", "metrics explain"),
    ],
)
def test_every_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    assert "Example" in capsys.readouterr().out


def test_an_interrupted_screening_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(model: Path, source: Path, out: Path, **options: object) -> None:
        out.mkdir()
        (out / ".progress.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr("probative.api.screen", interrupted)

    assert run(["screen", "model", "letters", "-o", str(tmp_path / "out")]) == 130
    assert "--resume goes on" in capsys.readouterr().err
