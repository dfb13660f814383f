"""What the studies of speed and quality share around their work: options, threads, the end.

Conventions
-----------
* Progress goes to stderr, the Markdown table to stdout, raw results to the file of ``--json``.
* BLAS and OpenMP run with one thread in every study: see :func:`start`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from studies.common.data import DataFolder, Missing
from studies.common.progress import log
from studies.common.storing import plain, versions, write_text
from studies.common.tables import print_note

#: Options that say where things are, not what is done.
PLACES = ("cache", "data", "figure", "folder", "json", "reference", "state", "study", "worker")


def make_parser(study: str, description: str, *, data: bool = True) -> argparse.ArgumentParser:
    """A parser with the options that every study of speed and quality has.

    Parameters
    ----------
    study : str
        Such as ``speed.news20``.
    description : str
        The docstring of the study; its first line is shown.
    data : bool
        Whether it reads the data folder.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m studies.{study}", description=description.splitlines()[0]
    )
    parser.set_defaults(study=study)
    if data:
        add_data_options(parser, type=Path)
    parser.add_argument("--json", metavar="FILE", type=result_file, help="write raw results there")
    parser.add_argument("--quick", action="store_true", help="a small part, for a first look")
    return parser


def add_data_options(parser: argparse.ArgumentParser, note: str = "", **settings: Any) -> None:
    """``--data`` and ``--cache``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    note : str
        What else ``--data`` may be, for its help.
    **settings
        Of ``--data``, such as its type.
    """
    parser.add_argument(
        "--data",
        metavar="FOLDER",
        default=os.environ.get("SCORESIEVE_DATA"),
        help=f"data folder{note}; by default the environment variable SCORESIEVE_DATA",
        **settings,
    )
    parser.add_argument(
        "--cache",
        metavar="FOLDER",
        type=Path,
        help="where parsed files are kept; by default a folder of the system's temporary ones",
    )


def add_state_options(parser: argparse.ArgumentParser, what: str) -> None:
    """``--jobs`` and ``--state``, for studies that go on where they were stopped.

    Parameters
    ----------
    parser : argparse.ArgumentParser
    what : str
        The pieces of work, such as "fits".
    """
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--state", type=result_file, help=f"finished {what} are kept there")


def folder_of(args: argparse.Namespace) -> DataFolder:
    """The data folder that the options name."""
    return DataFolder(args.data, args.cache)


def result_file(text: str) -> Path:
    """The path of a file to write, refused before the work begins if its folder is not there."""
    path = Path(text)
    if not path.resolve().parent.is_dir():
        raise argparse.ArgumentTypeError(f"the folder of {text} does not exist; make it first")
    return path


def start(main: Callable[[], None]) -> None:
    """Run a study with one thread for BLAS and OpenMP; exit status 2 if a file is missing."""
    with threadpool_limits(limits=1):
        try:
            main()
        except Missing as error:
            log(str(error))
            sys.exit(2)


def finish(args: argparse.Namespace, results: dict[str, Any]) -> None:
    """The closing note, and the raw results with versions and settings if ``--json`` is given.

    Parameters
    ----------
    args : argparse.Namespace
        The options as they were used.
    results : dict
    """
    listed = ", ".join(f"{name} {version}" for name, version in versions().items())
    print_note(f"One thread for BLAS and OpenMP; {listed}.")
    if args.json is None:
        return
    content = {
        "study": args.study,
        "versions": versions(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "blas_threads": 1},
        "settings": {name: value for name, value in vars(args).items() if name not in PLACES},
        **results,
    }
    write_text(args.json, json.dumps(plain(content), indent=1, allow_nan=False) + "\n")
    log(f"wrote {args.json}")
