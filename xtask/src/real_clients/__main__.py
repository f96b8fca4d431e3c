"""Runs sessions through the real clients, and prints a table of the differences.

usage: real_clients CONVERT [CLIENT..] [OPTION..] DIR...
"""

import argparse
import collections
import concurrent.futures
import os
import random
import shutil
import sys
import tempfile
import types

import cases
from clients import CLIENTS
from install import install
from program import Program
from trips import Trips


def arguments():
    parser = argparse.ArgumentParser(prog="cargo xtask real-clients")
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="CLIENT or DIR", help=f"clients: {', '.join(CLIENTS)}; all if none is named")
    parser.add_argument("--installed", required=True, help="where clients are installed, and stay")
    parser.add_argument("--clido", help="the program of clido 1.0.15, built from its source")
    parser.add_argument("--sample", type=int, help="take so many sessions of each format, at random")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="namespaces at a time")
    parser.add_argument("--cases", help="hold the answers to sessions with a fault in this file against the clients instead")
    parser.add_argument("--record-cases", help="write the answers to sessions with a fault to this file instead")
    return parser.parse_args()


def main():
    args = arguments()
    chosen = [name for name in args.names if name in CLIENTS] or list(CLIENTS)
    folders = [name for name in args.names if name not in CLIENTS]
    missing = [folder for folder in folders if not os.path.exists(folder)]
    if missing:
        sys.exit(f"{missing[0]}: neither a client nor a folder; clients are {', '.join(CLIENTS)}")
    os.makedirs(args.installed, exist_ok=True)
    programs = {"clido": args.clido} if args.clido else {}
    runnable = {name for name in chosen if install(CLIENTS[name], args.installed, programs)}
    scratch = tempfile.mkdtemp(prefix="real-clients-")
    os.chmod(scratch, 0o755)
    try:
        kit = types.SimpleNamespace(clients=args.installed, scratch=scratch)
        if args.cases or args.record_cases:
            ask = cases.hold if args.cases else cases.record
            return ask(kit, args, [CLIENTS[name] for name in chosen if name in runnable])
        program = Program(args.program, scratch)
        trips = Trips(kit, program, {name: CLIENTS[name] for name in chosen}, runnable)
        return run(args, trips, [CLIENTS[name] for name in chosen], program.sessions(folders))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def run(args, trips, clients, sessions):
    by_format = collections.defaultdict(list)
    for form, path in sessions:
        by_format[form].append(path)
    for form, paths in by_format.items():
        print(f"{form}: {len(paths)} sessions", end="", file=sys.stderr)
        if args.sample and args.sample < len(paths):
            by_format[form] = sorted(random.Random(args.seed).sample(sorted(paths), args.sample))
            print(f", {args.sample} taken with seed {args.seed}", end="", file=sys.stderr)
        print(file=sys.stderr)
    table, failures = [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for client in clients:
            for form, paths in sorted(by_format.items()):
                for title, trip in trips_of(trips, client, form):
                    outcomes = list(pool.map(lambda path, trip=trip, form=form: trip(client, form, path), paths))
                    row = [name_of(client, trips), title, *summary(outcomes)]
                    table.append(row)
                    print("| " + " | ".join(row) + " |", file=sys.stderr)
                    failures += tell(outcomes, row)
    print_table(table)
    return 1 if failures else 0


def name_of(client, trips):
    return f"{client.name} {client.version}" + ("" if client.name in trips.runnable else ", by its rules")


def trips_of(trips, client, form):
    """Yields the trips of the sessions of a format through a client."""
    if form == client.format:
        if client.name in trips.runnable:
            yield f"{form}, as it is", trips.as_it_is
    else:
        yield f"from {form}", trips.to_client
        yield f"from {form} and home", trips.home_again


COLUMNS = ["client", "sessions", "n", "loaded", "listed", "equal", "old bytes kept", "new turns", "differences", "named by the report"]


def summary(outcomes):
    done = [outcome for outcome in outcomes if outcome is not None]

    def count(values):
        values = [value for value in values if value is not None]
        return f"{sum(values)} of {len(values)}" if values else ""

    def kinds(counters):
        total = sum(counters, collections.Counter())
        n_sessions = sum(bool(counter) for counter in counters)
        return ", ".join(f"{kind} {n}" for kind, n in sorted(total.items())) + (f" (in {n_sessions})" if n_sessions else "")

    n_violating = sum(outcome.n_violations > 0 for outcome in done)
    differences = kinds([outcome.differences for outcome in done])
    if n_violating:
        differences += f"{'; ' if differences else ''}{n_violating} break rules of the API"
    return [
        str(len(done)) + (f" (+{len(outcomes) - len(done)} that say nothing)" if len(done) < len(outcomes) else ""),
        count([outcome.is_loaded for outcome in done]),
        count([outcome.is_listed for outcome in done]),
        count([outcome.is_equal for outcome in done]),
        count([outcome.is_prefix for outcome in done]),
        count([outcome.has_new for outcome in done]),
        differences,
        kinds([outcome.named for outcome in done]),
    ]


def tell(outcomes, row):
    """Prints the sessions with differences to standard error, and returns their number."""
    bad = 0
    for outcome in (outcome for outcome in outcomes if outcome is not None):
        is_fine = outcome.is_loaded and not outcome.differences and outcome.is_prefix in (None, True) and outcome.has_new in (None, True)
        if not is_fine:
            bad += 1
            what = ", ".join(f"{kind} {n}" for kind, n in outcome.differences.items())
            print(f"{row[0]}: {row[1]}: {outcome.path}: loaded {outcome.is_loaded}, old bytes kept {outcome.is_prefix}, "
                  f"new turns {outcome.has_new}, differences: {what or 'none'}", file=sys.stderr)
            for note in outcome.notes[:4]:
                print(f"    {note}", file=sys.stderr)
    return bad


def print_table(table):
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for row in table:
        print("| " + " | ".join(row) + " |")


sys.exit(main())
