"""The command `probative`: one file a command; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from probative.cli import ablate, compare, data, doctor, evaluate, fit, manners, metrics, report, screen, tune, verify
from probative.cli import run as run_command

app = typer.Typer(
    name="probative",
    help="Evidence retrieval with abstention: which sentences are evidence, is there any, and how sure can one be. "
    "Every command takes --debug, which shows the traceback of an error.",
    no_args_is_help=True,
    epilog="Example: probative run --quick",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from probative.version import __version__

        typer.echo(__version__)
        raise typer.Exit


app.command("run", short_help="The main job: cross-validate, evaluate, report.", epilog=run_command.EPILOG)(
    run_command.run
)
app.command("evaluate", short_help="Measure predictions, yours or a run's.")(evaluate.evaluate)
app.command("compare", short_help="Compare systems on the same queries.")(compare.compare)
app.command("ablate", short_help="Measure what each stage adds.", epilog=ablate.EPILOG)(ablate.ablate)
app.command("tune", short_help="Search for settings inside TRAIN.", epilog=tune.EPILOG)(tune.tune)
app.command("report", short_help="Rebuild the report, plots and tables of a run.", epilog=report.EPILOG)(report.report)
app.command("verify", short_help="Recompute and check; exit 1 when a check fails.", epilog=verify.EPILOG)(verify.verify)
app.command("fit", short_help="Fit a model folder to use on new documents.", epilog=fit.EPILOG)(fit.fit)
app.command("screen", short_help="Decide about new documents.", epilog=screen.EPILOG)(screen.screen)
app.command("doctor", short_help="Say what is installed and what is missing.", epilog=doctor.EPILOG)(doctor.doctor)
app.add_typer(metrics.app, name="metrics", epilog="Example: probative metrics explain map@10")
app.add_typer(data.app, name="data")


def run(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    arguments, debug = manners.take_flag(arguments, "--debug")

    def call() -> int | None:
        try:
            app(args=arguments, prog_name="probative")
        except SystemExit as leaving:
            if leaving.code == manners.INTERRUPTED:  # typer has swallowed the interruption
                raise KeyboardInterrupt from None
            return leaving.code if isinstance(leaving.code, int) else 1
        return 0

    return manners.guarded(call, debug)


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))
