"""``python -m studies.soak.page``: docs/soak.md, rendered from the stored results."""

from __future__ import annotations

import json
from pathlib import Path

from studies.common.storing import write_text
from studies.common.tables import markdown

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[2] / "docs" / "soak.md"
INTRODUCTION = """# Long runs that try to break the package

Does the package keep its [promises](security.md) on hostile files and numbers? The programs of
`studies/soak` try 400,000 files and 2,500 problems and signals; the table at the end counts the
outcomes.

`make soak` runs them and writes this page from their stored results, `studies/soak/results/*.json`;
`make soak SOAK="--seconds 60"` is a short run. A case depends on the seed and its number alone:
`python -m studies.soak PROGRAM --seed S --first NUMBER --cases 1` repeats one. The tests run some
cases of each.

* models, command-line-models, blocks, svmlight: valid files of every kind with changed bytes,
  members, arrays and JSON, and corrected checksums. A child process with little spare memory loads
  them, and an audit hook sees unpickling, processes, sockets and other files. The load must raise
  the one documented exception, which names the file, or return an object that works.
* numerics: problems of at most eight rows with duplicate, constant, zero, huge, tiny and denormal
  columns, scales from 1e-150 to 1e150, ties, one positive, one negative, contradictions, ten
  million columns. Both bounds are recomputed from all labellings and from formulas written out
  again; scaling X by a power of two must give the same bits. No problem may take twenty seconds of
  the processor, and the conic solver may take over at most one of a thousand master problems.
* kernels: the same fits with the kernels of OpenBLAS for other processors, and with two threads:
  all bounds must agree, the features must be the same, and also the bits of one and two threads.
* signals: SIGINT and SIGTERM at random moments of fits, paths, sieves, conversions and saves.
"""


def page_of(results: Path) -> str:
    """The page of all results in a folder."""
    lines = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))]
    rows = [
        [
            *(line["program"], ", ".join(f"{k}: {n}" for k, n in line["outcomes"].items())),
            *(line["seed"], line["cases"], line["failures"], line["seconds"]),
        ]
        for line in lines
    ]
    table = markdown(["program", "outcomes", "seed", "cases", "failures", "s"], rows, n_left=2)
    text = f"{INTRODUCTION}\n{table}"
    for line in lines:
        failed = [f"  - case {each['case']}: {each['what']}" for each in line["kept"]]
        notes = ", ".join(f"{value} {name}" for name, value in line["notes"].items())
        if notes or failed:
            text += f"\n* {line['program']}: {notes}\n" + "".join(f"{each}\n" for each in failed)
    return text


if __name__ == "__main__":
    write_text(PAGE, page_of(RESULTS))
