"""A tour: who watched what, invented, and two private answers about it.

It writes `demo/plays.parquet`, which stays there to be played with, and runs the command on it as
one would type it. The folder's Parquet files are ignored by git.
"""
# ruff: noqa: INP001, S603, SIM905, T201 - a script that prints, runs us, and lists words

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

HERE = Path(__file__).resolve().parent
PLAYS = HERE / "plays.parquet"
TOP, DOMAIN = HERE / "top.parquet", HERE / "domain.parquet"

PEOPLE, TITLES, SEED = 20_000, 5_000, 1
POPULARITY = 0.9  # the exponent of Zipf's law
BUDGET = "--epsilon 1 --delta 1e-6"

ADJECTIVES = """Amber Bitter Borrowed Broken Burning Crimson Distant Drowned Electric Empty Endless
Forgotten Frozen Gentle Gilded Hidden Hollow Invisible Last Late Little Lonely Long Lost Midnight
Northern Paper Patient Quiet Restless Salt Second Secret Silent Silver Sleeping Stolen Strange
Sudden Tender Unfinished Velvet Wandering Wild Winter""".split()
NOUNS = """Alibi Apprentice Archive Atlas Bakery Bargain Bridge Carousel Cartographer Choir
Clockmaker Comet Compass Country Daughter Detective Diary Dynasty Echo Empire Ferry Fever Fortune
Garden Ghost Harbour Heist Heiress Horizon Hotel House Hour Inheritance Island Kitchen Labyrinth
Lantern Letter Lighthouse Machine Mirror Neighbour Opera Orchard Orchestra Passenger Physician
Piano Promise River Road Season Shadow Signal Sister Stranger Summer Telescope Theatre Tide Train
Translator Treaty Verdict Village Violin Visitor Voyage Wedding Widow Witness""".split()
PLACES = """Alexandria Babylon Bergen Bruges Cádiz Cork Galway Genoa Göteborg Havana Istanbul
Kraków Kyoto Lagos Lima Lisbon Łódź Marseille Mombasa Montréal Odesa Palermo Porto Prague Riga
Samarkand Santiago Seville Shanghai Tangier Tbilisi Trieste Tromsø Valparaíso Zanzibar
Zürich""".split()
NAMES = """Ada Agnes Amara Anouk Beatriz Bruno Cecilia Chidi Clara Dmitri Elif Emeka Esther Farid
Fiona Giulia Hana Hugo Ines Ivan Jonas Joséphine Kenji Leila Lucía Magda Mateo Mina Nadia Noor Olga
Oskar Priya Rafael Rosa Samir Sofia Tariq Thandiwe Ulla Viktor Yusuf Zoë""".split()


def titles(rng: np.random.Generator) -> list[str]:
    """Distinct titles, the most popular first."""
    patterns = [
        [f"The {a} {n}" for a in ADJECTIVES for n in NOUNS],
        [f"{a} {n}" for a in ADJECTIVES for n in NOUNS],
        [f"The {n} of {p}" for n in NOUNS for p in PLACES],
        [f"{a} in {p}" for a in ("Midnight", "Spring", "Goodbye", "Lost", "Alone") for p in PLACES],
        [f"{a} and {b}" for a in NAMES for b in NAMES if a < b],
        [f"{name}’s {n}" for name in NAMES for n in NOUNS],
        [f"A {n} for {name}" for n in NOUNS for name in NAMES if n[0] not in "AEHIO"],
    ]
    shares = np.array([0.3, 0.15, 0.2, 0.02, 0.1, 0.15, 0.08])
    drawn = [
        rng.choice(pattern, round(TITLES * share), replace=False)
        for pattern, share in zip(patterns, shares, strict=True)
    ]
    return rng.permutation(np.concatenate(drawn)).tolist()


def write_plays() -> pl.DataFrame:
    """A row per person and title: most people have a dozen, a few have hundreds."""
    rng = np.random.default_rng(SEED)
    sizes = np.clip(rng.lognormal(2.4, 1.1, PEOPLE), 1, 400).astype(int)
    popularity = (3.0 + np.arange(TITLES)) ** -POPULARITY
    plays = rng.choice(TITLES, sizes.sum(), p=popularity / popularity.sum())
    people = rng.permutation([f"p{i:05d}" for i in range(PEOPLE)])
    frame = pl.DataFrame(
        {
            "user": np.repeat(people, sizes),
            "title": pl.Series(titles(rng)).gather(plays),
        }
    )
    frame = frame.unique(maintain_order=True).sample(fraction=1, shuffle=True, seed=SEED)
    frame.write_parquet(PLAYS)
    return frame


def run(options: str, most: int | None = None) -> None:
    """Show a command as one would type it here, and run it; of a long list show the beginning."""
    program = Path(sys.executable).with_name("shortlist")
    print(f"\n$ {_here(program)} {options}\n", flush=True)
    words = [program, *shlex.split(options.replace("\\\n", ""))]
    if most is None:
        subprocess.run(words, check=True)
        return
    printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    lines = printed.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("──")) + 1
    last = lines.index("", first)  # where the table ends
    print("\n".join(lines[: min(first + most, last)]))
    if last > first + most:
        print(f"… and {last - first - most:,} more: with --output - the command prints all.")
    print("\n".join(lines[last:]), flush=True)


def _here(path: Path) -> str:
    return os.path.relpath(path)


def main() -> None:
    """The tour."""
    plays = write_plays()
    print(
        f"{_here(PLAYS)}: {len(plays):,} rows of {PEOPLE:,} invented people and the titles they\n"
        "watched. It stays there; try your own questions on it."
    )
    table = f"{_here(PLAYS)} --user user --item title"
    for answered in (TOP, DOMAIN):  # by an earlier tour
        answered.unlink(missing_ok=True)
    run(f"top-k {table} \\\n    -k 20 {BUDGET} --output {_here(TOP)}")
    run(f"domain {table} \\\n    {BUDGET} --output {_here(DOMAIN)}", most=20)
    compare(plays)


def compare(plays: pl.DataFrame) -> None:
    """Hold the answers against the truth."""
    counts = plays.group_by("title").agg(people=pl.len()).sort("people", descending=True)
    named = [set(pl.read_parquet(path)["title"]) for path in (TOP, DOMAIN)]
    best = set(counts["title"].head(len(named[0])))
    reach = counts.filter(pl.col("title").is_in(named[1]))["people"].sum() / len(plays)
    print(
        "\nHow good is that? Only because these people are invented may we look:\n"
        f"- {len(named[0] & best)} of the 20 titles are among the true top 20;\n"
        f"- {len(named[1]):,} of the {len(counts):,} titles could be named, and they stand for "
        f"{reach:.0%} of the rows."
    )


def ended() -> int:
    """The tour, and the status to end with."""
    try:
        main()
        sys.stdout.flush()
    except subprocess.CalledProcessError as error:  # the command has said why
        status = error.returncode
    except BrokenPipeError:  # whoever reads has seen enough, as in `| head`
        status = 1
    else:
        return 0
    # What is still to be printed would fail once more at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(ended())
