"""Search for better settings inside TRAIN of one outer fold; any number of processes may share the search."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from probative import files
from probative.data import Corpus
from probative.encode import vectors_for
from probative.errors import ConfigError, NotInstalled
from probative.experiment.run import check_usable
from probative.experiment.settings import RunSettings
from probative.experiment.tune_objective import Inner, Objective, values
from probative.experiment.tune_space import changed, present, space
from probative.settings import to_yaml
from probative.types import Role

BEST = 5
AGAIN = 3
"""The best five are measured again on this many other inner seeds."""
SCHEMA_VERSION = 1
Say = Callable[[int, str], None]
"""(trials done in all, what is best) → something a person sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Everything that a process needs to join a search."""

    inner: Inner
    settings: RunSettings
    objective: Objective
    storage: str
    trials: int

    @property
    def name(self) -> str:
        """The same for the same question: another configuration or corpus is another study."""
        asked = {
            "config": self.settings.model_dump(mode="json"),
            "corpus": self.inner.corpus.fingerprint,
            "outer": self.inner.outer,
            "objective": self.objective,
            "space": [str(one) for one in space(self.settings)],
        }
        return f"probative-{files.sha256_json(asked)[:16]}"


def tune(
    corpus: Corpus,
    settings: RunSettings,
    out: Path,
    *,
    trials: int,
    storage: str | None = None,
    objective: Objective = "both",
    fold: int = 0,
    jobs: int = 1,
    resume: bool = False,
    say: Say = lambda done, text: None,
) -> dict[str, Any]:
    """Search until the study holds `trials`, measure the best again, and write tune.json and best.yaml to `out`."""
    check_usable(corpus)
    inner = Inner.of(corpus, settings, fold)
    out.mkdir(parents=True, exist_ok=True)
    shared = storage or str(out / "journal.log")
    search = Search(inner=inner, settings=settings, objective=objective, storage=shared, trials=trials)
    study = _open(search, resume=resume, seed=settings.seed)
    vectors_for(inner.corpus.view(inner.corpus.doc_ids, Role.NEW, gold=False), settings.encode)
    start = settings.seed if storage is None else uuid.uuid4().int % 2**31
    if jobs == 1:
        explore(search, start, say)
    else:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            list(pool.map(explore, [search] * jobs, range(start, start + jobs)))
    found = _found(study, search, say)
    best = changed(settings, found["best"]["settings"])
    files.write_json(out / "tune.json", found)
    files.write_text(out / "best.yaml", to_yaml(best))
    return found


def explore(search: Search, seed: int, say: Say = lambda done, text: None) -> None:
    """Try settings until the study holds enough trials, whoever has made them."""
    optuna = _optuna()
    study = _study(search, seed)
    ended = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)

    def objective(trial: Any) -> float:
        chosen = {one.name: one.ask(trial) for one in space(search.settings)}
        seen: list[float] = []
        for step, value in enumerate(_inside(search, chosen, search.settings.seed)):
            seen.append(value)
            trial.report(float(np.mean(seen)), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        trial.set_user_attr("folds", seen)
        return float(np.mean(seen))

    def tell(study: Any, trial: Any) -> None:
        done = study.get_trials(deepcopy=False, states=ended)
        best = max((t.value for t in done if t.state is optuna.trial.TrialState.COMPLETE), default=None)
        say(len(done), "no trial has ended" if best is None else f"best {best:.4f}")

    while len(study.get_trials(deepcopy=False, states=ended)) < search.trials:
        study.optimize(objective, n_trials=1, callbacks=[tell])


def _inside(search: Search, chosen: dict[str, Any], seed: int) -> Any:
    return values(search.inner, changed(search.settings, chosen), search.objective, seed)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise NotInstalled("probative tune", "tune") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _storage(place: str) -> Any:
    optuna = _optuna()
    if "://" in place:
        return optuna.storages.RDBStorage(place)
    from optuna.storages.journal import JournalFileBackend

    Path(place).parent.mkdir(parents=True, exist_ok=True)
    return optuna.storages.JournalStorage(JournalFileBackend(place))


def _study(search: Search, seed: int) -> Any:
    optuna = _optuna()
    return optuna.create_study(
        storage=_storage(search.storage),
        study_name=search.name,
        direction="maximize",
        load_if_exists=True,
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
    )


def _open(search: Search, *, resume: bool, seed: int) -> Any:
    """The study, new or joined; its first trial is the configuration itself."""
    optuna = _optuna()
    known = optuna.get_all_study_names(_storage(search.storage))
    if resume and known and search.name not in known:
        raise ConfigError(
            f"{search.storage}: holds searches, but none of this configuration, corpus, fold and objective. "
            "Give what the search was started with, or leave out --resume to begin another one beside it."
        )
    study = _study(search, seed)
    if study.trials and not resume:
        raise ConfigError(
            f"{search.storage}: holds {len(study.trials)} trials of this search. Continue or join it with --resume, "
            "or name another --out or --storage."
        )
    study.enqueue_trial(present(search.settings), skip_if_exists=True)
    return study


def _found(study: Any, search: Search, say: Say) -> dict[str, Any]:
    """What the search found, and how sure that is."""
    state = _optuna().trial.TrialState
    ended = [t for t in study.get_trials(deepcopy=False) if t.state in (state.COMPLETE, state.PRUNED)]
    whole = sorted((t for t in ended if t.state is state.COMPLETE), key=lambda t: (-t.value, t.number))
    again = [_again(search, trial, say, len(ended)) for trial in _distinct(whole)[:BEST]]
    best = max(again, key=lambda row: row["mean"])
    inner = search.inner
    return {
        "schema_version": SCHEMA_VERSION,
        "study": search.name,
        "objective": search.objective,
        "outer_fold": inner.outer,
        "inner_folds": inner.parts,
        "documents": list(inner.corpus.doc_ids),
        "seen": _seen(inner),
        "trials": {"complete": len(whole), "pruned": len(ended) - len(whole)},
        "best": best,
        "again": again,
        "searched": [row.name for row in space(search.settings)],
        "history": [{"number": t.number, "value": t.value, "state": t.state.name.lower()} for t in ended],
    }


def _distinct(trials: Sequence[Any]) -> list[Any]:
    kept: dict[str, Any] = {}
    for trial in trials:
        kept.setdefault(json.dumps(trial.params, sort_keys=True), trial)
    return list(kept.values())


def _again(search: Search, trial: Any, say: Say, done: int) -> dict[str, Any]:
    """A trial on inner seeds that the search has not seen, so that its luck does not count."""
    say(done, f"trial {trial.number} again on {AGAIN} other inner seeds")
    seeds = [search.settings.seed + 1 + n for n in range(AGAIN)]
    found = [float(np.mean(list(_inside(search, trial.params, seed)))) for seed in seeds]
    return {
        "trial": trial.number,
        "searched": trial.value,
        "seeds": seeds,
        "values": found,
        "mean": float(np.mean(found)),
        "std": float(np.std(found, ddof=1)),
        "settings": trial.params,
        "is_start": trial.params == present(search.settings),
    }


def _seen(inner: Inner) -> str:
    """Which EVAL documents the search has not touched, in words."""
    told = f"The search used TRAIN and STOP of outer fold {inner.outer} alone: {len(inner.corpus.doc_ids)} documents."
    if inner.n_outer == 1:
        return f"{told} A run with the same split has no EVAL or TUNE document among them."
    return (
        f"{told} They stand in the EVAL part of the other folds, so a run with best.yaml is untouched by the search "
        f"only in its scope fold:{inner.outer}. With one split (folds.split), the whole run is."
    )


def lines(found: dict[str, Any], out: Path) -> list[str]:
    """What a finished search says in the terminal."""
    trials, best = found["trials"], found["best"]
    said = [f"{trials['complete']} trials, {trials['pruned']} stopped early; objective {found['objective']}."]
    said.append("Again on other inner seeds (mean ± standard deviation; the search's own value in brackets):")
    for row in sorted(found["again"], key=lambda row: -row["mean"]):
        start = "  the configuration itself" if row["is_start"] else ""
        said.append(f"  trial {row['trial']:<4} {row['mean']:.4f} ± {row['std']:.4f}  ({row['searched']:.4f}){start}")
    said.append(_sure(found))
    said += [f"  {name}: {value}" for name, value in best["settings"].items()]
    return [*said, found["seen"], f"Run it with: probative run {os.fspath(out / 'best.yaml')}"]


def _sure(found: dict[str, Any]) -> str:
    best = found["best"]
    others = [row["mean"] for row in found["again"] if row is not best and row["trial"] != best["trial"]]
    if not others:
        return f"Trial {best['trial']} is the only one that ended."
    lead = best["mean"] - max(others)
    if lead > best["std"]:
        return f"Trial {best['trial']} leads by {lead:.4f}, more than its spread."
    return f"Trial {best['trial']} is best, but its lead of {lead:.4f} is within its spread: the next are as good."
