"""The commands: how their arguments are parsed."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from shortlist.cli._budgets import budget
from shortlist.cli._common_options import (
    EVERY,
    AuditJson,
    AuditMechanism,
    Encoding,
    InputFormat,
    Quick,
    Separator,
    Statistical,
)
from shortlist.cli._compare_options import (
    Asked,
    Bounds,
    Csv,
    Deltas,
    Epsilons,
    Ks,
    Looked,
    Mechanisms,
    Runs,
    Table,
)
from shortlist.cli._options import (
    Bound,
    By,
    ComparisonBound,
    Contraction,
    Count,
    CountShare,
    Degree,
    Delta,
    DomainDelta,
    DomainMechanism,
    Epsilon,
    File,
    GroupBound,
    HittingSetBound,
    HittingSetMechanism,
    Item,
    K,
    Loser,
    NoCount,
    NoPublicItems,
    PublicGroups,
    PublicItems,
    PublicItemsInTable,
    Pull,
    RankDelta,
    RankFile,
    RankMechanism,
    RankPublicItems,
    RankPublicItemsInTable,
    RankUser,
    ShowAccesses,
    StoreTable,
    StoreUrl,
    TopKBound,
    TopKFile,
    TopKMechanism,
    TopKUser,
    UrlTable,
    User,
    Users,
    Winner,
)
from shortlist.cli._parsing import Command, Group
from shortlist.cli._ranking import RankRequest
from shortlist.cli._telling import completion, explain, help_of
from shortlist.cli.request import Request

__all__ = ["app"]


app = typer.Typer(
    cls=Group,
    add_completion=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="""
[bold]Example[/]\n
shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6\n
Each command has its own help: shortlist top-k --help""",
)

app.add_typer(budget, name="budget")


@app.callback(invoke_without_command=True)
def shortlist(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version and exit.")
    ] = False,
) -> None:
    """Which items? Lists about sensitive tables, with differential privacy.

    A table has one row per user and item, or one row per item with the number of
    its users. Each user is protected as a whole: --epsilon and --delta limit what
    the answer can tell of whether any one user is in the table, whatever else is
    known. For a ranking, a table has one row per comparison of two items; each
    row is protected or, with --user, each user.
    """
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"shortlist {installed('shortlist')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit(2)


def _with_every(command: Callable[..., Request]) -> Callable[..., Request]:
    """Let a command have what every question takes in the place of its `**every`."""
    signature = inspect.signature(command)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    vars(command)["__signature__"] = signature.replace(parameters=[*own, *EVERY])
    return command


def _asked(kind: type[Request], question: str, arguments: dict[str, Any]) -> Request:
    every = arguments.pop("every")
    settings, _ = every.pop("config"), every.pop("no_config")
    return kind(question=question, settings=settings, **arguments, **every)


@app.command(
    "top-k",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist top-k plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6\n
shortlist top-k readers.csv --item title --count readers \\
    -k 20 --epsilon 1 --public-items-in-table\n
shortlist top-k plays.parquet --user user --item title \\
    --by country -k 10 --epsilon 1 --delta 1e-6\n
shortlist top-k --store sqlite:///items.db --table items \\
    --item name --count plays -k 100 --epsilon 1""",
)
@_with_every
def top_k(  # noqa: PLR0913 - a command's options are its arguments
    file: TopKFile = None,
    *,
    user: TopKUser = None,
    count: Count = None,
    item: Item,
    k: K,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    users: Users = None,
    max_items_per_user: TopKBound = None,
    public_items: PublicItems = None,
    public_items_in_table: PublicItemsInTable = False,
    by: By = None,
    max_groups_per_user: GroupBound = None,
    public_groups: PublicGroups = None,
    store: StoreUrl = None,
    table: StoreTable = None,
    pull: Pull = False,
    show_accesses: ShowAccesses = False,
    count_share: CountShare = None,
    mechanism: TopKMechanism = None,
    **every: Any,
) -> Request:
    """The k items held by most users, best first; with --by, those of each group.

    Fewer come out if fewer are held by enough users to be named.
    """
    return _asked(Request, "top-k", locals())


@app.command(
    "domain",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist domain plays.parquet --user user --item title \\
    --epsilon 1 --delta 1e-6 --output titles.csv""",
)
@_with_every
def domain(  # noqa: PLR0913 - a command's options are its arguments
    file: File,
    *,
    user: User,
    item: Item,
    epsilon: Epsilon,
    delta: DomainDelta,
    users: Users = None,
    count: NoCount = None,  # refused with its reason
    max_items_per_user: Bound = None,
    public_items: NoPublicItems = None,  # refused with its reason
    by: By = None,
    count_share: CountShare = None,
    table: UrlTable = None,
    pull: Pull = False,
    mechanism: DomainMechanism = None,
    **every: Any,
) -> Request:
    """All items held by enough users to be named."""
    return _asked(Request, "domain", locals())


@app.command(
    "hitting-set",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist hitting-set plays.parquet --user user --item title \\
    -k 20 --epsilon 1 --delta 1e-6""",
)
@_with_every
def hitting_set(  # noqa: PLR0913 - a command's options are its arguments
    file: File,
    *,
    user: User,
    item: Item,
    k: K,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    users: Users = None,
    max_items_per_user: HittingSetBound = None,
    public_items: PublicItems = None,
    table: UrlTable = None,
    pull: Pull = False,
    mechanism: HittingSetMechanism = None,
    **every: Any,
) -> Request:
    """At most k items that together reach as many users as possible.

    Each item is picked by how many users it reaches beyond those before it.
    """
    return _asked(Request, "hitting-set", locals())


@app.command(
    "rank",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist rank games.csv --winner won --loser lost \\
    --public-items-in-table -k 10 --epsilon 1""",
)
@_with_every
def rank(  # noqa: PLR0913 - a command's options are its arguments
    file: RankFile,
    *,
    winner: Winner,
    loser: Loser,
    user: RankUser = None,
    k: K,
    epsilon: Epsilon,
    delta: RankDelta = 0.0,
    max_comparisons_per_user: ComparisonBound = None,
    public_items: RankPublicItems = None,
    public_items_in_table: RankPublicItemsInTable = False,
    mechanism: RankMechanism = None,
    contraction: Contraction = None,
    degree: Degree = None,
    **every: Any,
) -> Request:
    """The k items that do best when compared in pairs, best first."""
    return _asked(RankRequest, "rank", locals())


@app.command(
    "compare",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist compare top-k plays.parquet --user user --item title \\
    -k 20 -k 100 --epsilon 0.1 --epsilon 1 --delta 1e-6 --not-private""",
)
def compare(  # noqa: PLR0913 - a command's options are its arguments
    question: Asked,
    file: Table,
    *,
    user: TopKUser = None,
    count: Count = None,
    item: Item,
    k: Ks = None,
    epsilon: Epsilons,
    delta: Deltas = None,
    max_items_per_user: Bounds = None,
    public_items: PublicItems = None,
    public_items_in_table: PublicItemsInTable = False,
    mechanism: Mechanisms = None,
    not_private: Looked = False,
    separator: Separator = None,
    encoding: Encoding = None,
    input_format: InputFormat = None,
    runs: Runs = 10,
    as_csv: Csv = False,
) -> int:
    """NOT private: what each mechanism would leave out of a table.

    Use it on a table that may be looked at, to choose epsilon, k, a bound and a
    mechanism before you ask about one that may not.
    """
    from shortlist.cli._comparing import Comparing, compared

    table = {
        "file": file,
        "user": user,
        "count": count,
        "item": item,
        "public_items": public_items,
        "public_items_in_table": public_items_in_table,
        "separator": separator,
        "encoding": encoding,
        "input_format": input_format,
    }
    asked = Comparing(
        question=question,
        table=table,
        k=k or [],
        epsilon=epsilon,
        delta=delta or [],
        max_items_per_user=max_items_per_user or [],
        mechanism=mechanism or [],
        runs=runs,
        as_csv=as_csv,
        not_private=not_private,
    )
    return compared(asked)


@app.command(
    "audit",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist audit peeling --quick""",
)
def audit(
    mechanism: AuditMechanism = None,
    *,
    quick: Quick = False,
    statistical: Statistical = False,
    as_json: AuditJson = False,
) -> int:
    """Check what the mechanisms claim, on all neighbours of small inputs.

    The exit status is 1 if a claim is broken. None of your data is read.
    """
    from shortlist.cli._auditing import audited

    return audited(mechanism, quick=quick, statistical=statistical, as_json=as_json)


app.command(
    "explain",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist explain top.json""",
)(explain)

app.command(
    "completion",
    cls=Command,
    epilog="""
[bold]In ~/.bashrc[/]\n
eval "$(shortlist completion bash)"\n
[bold]In ~/.zshrc, after compinit[/]\n
eval "$(shortlist completion zsh)"\n
[bold]In ~/.config/fish/config.fish[/]\n
shortlist completion fish | source""",
)(completion)

app.command(
    "help",
    cls=Command,
    epilog="""
[bold]Example[/]\n
shortlist help top-k""",
)(help_of)
