"""The time of a round on w workers, on paper: from measured bandwidths to 10^11 non-zeros.

    round = X^T v on the workers + sums of its parts + sums that move between workers + v out
            + X^T v back + tasks of the scheduler + the oracle

Bandwidths are measured on this machine; the model is then compared with rounds on local clusters of
1, 2 and 4 workers, and written out for clusters that are not here.

Products and sums are timed inside a worker: dask starts its workers with a C library that gives
memory back at once, so that each large result is paid for again, and a product takes up to twice as
long there as in another process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import cpu_count

from scoresieve.design import as_design, open_blocks
from scoresieve.measures import get_measure
from studies.common.options import finish, make_parser, start
from studies.common.progress import log
from studies.common.tables import number, print_note, print_table
from studies.common.timing import median_time, timed
from studies.speed.large_text import TextSize, make_text

#: Bytes of a number in a vector, of a stored number with its column, and of a block of these.
NUMBER_BYTES, ENTRY_BYTES, BLOCK_BYTES = 8, 8, 2**26
#: Most violated labellings that a round looks for, each with a sort of n scores or of some of them:
#: 3.8 to 4.8 were counted for F1, PRBEP and the ROC area on this text.
ORACLES_A_ROUND = 4
#: A network of ten gigabits, for clusters that are not here.
TEN_GIGABITS = 1.25e9
WORKERS = (1, 2, 4)
#: Rows that the oracle is timed on.
ORACLE_ROWS = 4_000_000
SIZES, CLUSTERS = (2e8, 2e9, 1e10, 1e11), (1, 4, 16, 64, 256)


@dataclass(frozen=True)
class Bandwidths:
    """What a machine does in a second.

    Attributes
    ----------
    entries : float
        Non-zeros of ``X^T v`` in one worker.
    added : float
        Numbers of two vectors that a worker adds.
    network : float
        Bytes between the driver and a worker.
    tasks : float
        Tasks that the scheduler hands out and takes back.
    rows : float
        Of which the oracle of F1, which sorts their scores, finds the most violated labelling.
    cores : int or None
        That all workers share; None if each has its own.
    """

    entries: float
    added: float
    network: float
    tasks: float
    rows: float
    cores: int | None = None


@dataclass(frozen=True)
class ProblemSize:
    """Rows, columns, non-zeros and blocks of rows, each of which is a task."""

    n_rows: float
    n_columns: float
    n_nonzeros: float
    n_blocks: int

    @classmethod
    def of_text(cls, n_nonzeros: float) -> ProblemSize:
        """In the shape of :class:`TextSize`."""
        size = TextSize(int(n_nonzeros))
        n_blocks = -(-ENTRY_BYTES * int(n_nonzeros) // BLOCK_BYTES)
        return cls(size.n_rows, size.n_columns, n_nonzeros, n_blocks)


def round_parts(size: ProblemSize, speed: Bandwidths, n_workers: int) -> dict[str, float]:
    """Seconds of each part of a round.

    Blocks are worked on in waves: with fewer of them than workers some have nothing to do. Their
    vectors of m numbers are added in pairs. Neighbours are on different workers, but for one in w,
    and one of the two moves then, packed and unpacked, with a message of its own. One vector goes
    to the driver, and v leaves the driver once.
    """
    busy = min(n_workers, size.n_blocks)
    busy = busy if speed.cores is None else min(busy, speed.cores)
    waves = -(-size.n_blocks // busy)
    n_sums = size.n_blocks - 1
    n_moves = n_sums * (1.0 - 1.0 / n_workers)
    vector = NUMBER_BYTES * size.n_columns
    return {
        "compute": waves * (size.n_nonzeros / size.n_blocks) / speed.entries,
        "adding": -(-n_sums // busy) * size.n_columns / speed.added,
        "moving": n_moves / busy * vector / speed.network,
        "v out": NUMBER_BYTES * size.n_rows / speed.network,
        "sums back": vector / speed.network,
        "tasks": (size.n_blocks + n_sums + n_moves) / speed.tasks,
        "oracle": ORACLES_A_ROUND * size.n_rows / speed.rows,
    }


def pass_seconds(parts: dict[str, float]) -> float:
    """Of the pass alone, which is what a cluster can be asked for by itself."""
    return sum(seconds for name, seconds in parts.items() if name != "oracle")


@contextmanager
def local_client(n_workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client


def measure(folder: Path, n_repeats: int) -> Bandwidths:
    """The bandwidths of this machine, with the row blocks of a folder."""
    _, rows = next(iter(open_blocks(folder, n_jobs=1).pieces()))
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(ORACLE_ROWS)
    y, measure_of = np.where(rng.random(ORACLE_ROWS) < 0.02, 1.0, -1.0), get_measure("f1")
    per_oracle = median_time(lambda: measure_of.most_violated(y, scores), n_repeats)
    with local_client(1) as client:
        sent = np.ones(2**20)
        per_send = median_time(lambda: client.submit(echo, sent, pure=False).result(), n_repeats)
        per_thousand = median_time(lambda: run_tasks(client, 1000), n_repeats)
        per_block = client.submit(product_seconds, str(folder), n_repeats, pure=False).result()
        per_sum = client.submit(adding_seconds, rows.shape[1], n_repeats, pure=False).result()
    return Bandwidths(
        entries=rows.nnz / per_block,
        added=rows.shape[1] / per_sum,
        network=2 * sent.nbytes / max(1e-9, per_send - per_thousand / 1000),
        tasks=1000 / per_thousand,
        rows=ORACLE_ROWS / per_oracle,
        cores=cpu_count(),
    )


def product_seconds(folder: str, n_repeats: int) -> float:
    """Seconds of ``X^T v`` of the first block in a folder, where this is called."""
    _, rows = next(iter(open_blocks(folder, n_jobs=1).pieces()))
    block, v = as_design(rows), np.ones(rows.shape[0])
    return median_time(lambda: block.correlate(v), n_repeats)


def adding_seconds(n_numbers: int, n_repeats: int) -> float:
    """Seconds of the sum of two vectors, where this is called."""
    first, second = np.ones(n_numbers), np.ones(n_numbers)
    return median_time(lambda: first + second, n_repeats)


def echo(numbers: np.ndarray) -> np.ndarray:
    """What was sent comes back."""
    return numbers


def one(number: int) -> int:
    """A task that does nothing."""
    return number


def run_tasks(client: Any, n_tasks: int) -> None:
    """Tasks that do nothing."""
    client.gather(client.map(one, range(n_tasks), pure=False))


def validated(folder: Path, speed: Bandwidths, n_repeats: int) -> list[dict[str, float]]:
    """Passes on local clusters, measured and by the model."""
    found = []
    for n_workers in WORKERS:
        with local_client(n_workers) as client:
            X = open_blocks(folder, client=client)
            v = np.random.default_rng(1).standard_normal(X.shape[0])
            first, _ = timed(lambda X=X, v=v: X.correlate(v))  # reads and compares the blocks
            seconds = median_time(lambda X=X, v=v: X.correlate(v), n_repeats)
        size = ProblemSize(*X.shape, X.n_entries, X.n_blocks)
        model = pass_seconds(round_parts(size, speed, n_workers))
        entry = {"workers": n_workers, "first": first, "measured": seconds, "model": model}
        log(str(entry))
        found.append(entry)
    return found


def print_projection(speed: Bandwidths) -> list[dict[str, Any]]:
    """Rounds of clusters with cores of their own and a network of ten gigabits."""
    there, found = replace(speed, network=TEN_GIGABITS, cores=None), []
    for n_nonzeros in SIZES:
        for n_workers in CLUSTERS:
            parts = round_parts(ProblemSize.of_text(n_nonzeros), there, n_workers)
            found.append({"nonzeros": n_nonzeros, "workers": n_workers, **parts})
    names = list(found[0])[2:]
    rows = [
        [f"{e['nonzeros']:.0e}", e["workers"], number(sum(e[name] for name in names), 1)]
        + [number(e[name], 2) for name in names]
        for e in found
    ]
    print_table(["non-zeros", "workers", "round, s", *names], rows, n_left=1)
    return found


def main(options: list[str] | None = None) -> None:
    parser = make_parser("speed.scale_model", __doc__ or "", data=False)
    parser.add_argument("--nonzeros", type=float, default=2e8)
    parser.add_argument("--folder", type=Path, help="of speed.scale; a temporary one else")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args(options)
    n_nonzeros = 1_000_000 if args.quick else int(args.nonzeros)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.folder or Path(temporary)) / str(n_nonzeros)
        folder.mkdir(parents=True, exist_ok=True)
        make_text(TextSize(n_nonzeros), folder)
        speed = measure(folder / "train", args.repeats)
        entries = validated(folder / "train", speed, args.repeats)
    print_table(
        ["non-zeros / s", "added / s", "bytes / s", "tasks / s", "rows of the oracle / s", "cores"],
        [[f"{value:.2e}" for value in list(asdict(speed).values())[:5]] + [speed.cores]],
        n_left=0,
    )
    print_table(
        ["workers", "first pass, s", "pass, s", "model, s", "measured / model"],
        [
            [
                e["workers"],
                number(e["first"]),
                number(e["measured"], 3),
                number(e["model"], 3),
                number(e["measured"] / e["model"]),
            ]
            for e in entries
        ],
        n_left=0,
    )
    projected = print_projection(speed)
    print_note("Clusters with a core for each worker and a network of 10 Gbit/s.")
    finish(args, {"bandwidths": asdict(speed), "validated": entries, "projected": projected})


if __name__ == "__main__":
    start(main)
