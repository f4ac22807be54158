"""The file shortlist.toml: what it sets, what it may not, and how one is told."""

import itertools
import json
import os
from pathlib import Path

import pytest

from helpers.command import COLUMNS, PRIVACY, top_k

pytestmark = pytest.mark.usefixtures("plain_terminal")

TOLD = "file, user, item, k, epsilon, delta: from shortlist.toml"
WHOLE = """
file = "plays.parquet"
user = "user"
item = "title"
epsilon = 3
delta = 1e-6

[top-k]
k = 2
"""


@pytest.fixture
def folder(file, monkeypatch):
    """The working folder, with a table."""
    monkeypatch.chdir(file.parent)
    return file.parent


@pytest.fixture
def settings(folder):
    """Write shortlist.toml."""

    def write(text, path="shortlist.toml"):
        (folder / path).write_text(text)

    return write


def test_what_is_in_the_file_need_not_be_typed(answered, settings):
    settings(WHOLE)
    out = answered("top-k")
    assert out.startswith("top-k: 2 items\n")
    assert f"\nsettings    {TOLD}\n" in out
    assert "epsilon=3.0, delta=1e-06" in out


@pytest.mark.parametrize(("value", "columns"), [("true", 7), ("false", 2)])
def test_a_list_always_has_counts_if_the_file_says_so(run, settings, value, columns):
    settings(f"noisy-counts = {value}\n{WHOLE}")
    status, out, _ = run("top-k", "--format", "csv")
    assert status == 0
    assert len(out.split("\n")[0].split(",")) == columns


def test_a_folder_below_takes_them_too_and_paths_are_those_of_the_file(
    answered, settings, folder, monkeypatch
):
    settings(WHOLE)
    below = folder / "notes" / "today"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    out = answered("top-k")
    assert f"from {Path('..', '..', 'shortlist.toml')}\n" in out


def test_the_nearest_file_counts_alone(complaint, settings, folder, monkeypatch):
    settings(WHOLE)
    (folder / "notes").mkdir()
    settings("epsilon = 1", "notes/shortlist.toml")
    monkeypatch.chdir(folder / "notes")
    assert "Missing option '--item'" in complaint("top-k")


def test_what_is_typed_comes_first_and_is_not_told(answered, settings):
    settings(WHOLE)
    out = answered("top-k", "-k", "1", "--epsilon", "4")
    assert out.startswith("top-k: 1 item\n")
    assert "epsilon=4.0" in out
    assert "\nsettings    file, user, item, delta: from shortlist.toml\n" in out


def test_where_all_is_typed_nothing_is_told(run, settings, file):
    settings(WHOLE)
    assert "settings" not in run(*top_k(file))[1]


def test_a_part_of_its_own_comes_before_what_all_questions_share(run, settings):
    settings(WHOLE + "epsilon = 3\n[domain]\nepsilon = 2\n")
    assert "epsilon=3.0" in run("top-k")[1]
    assert "epsilon=2.0" in run("domain")[1]
    assert "epsilon=3.0" in run("hitting-set", "-k", "1")[1]


def test_several_columns_are_a_list(run, settings, plays, folder):
    plays.with_columns(year=1900).write_parquet(folder / "plays.parquet")
    settings(WHOLE.replace('"title"', '["title", "year"]'))
    assert "1900" in run("top-k")[1]


@pytest.mark.parametrize("form", ["csv", "json", "markdown"])
def test_other_forms_than_the_table_say_it_beside(run, settings, form):
    settings(WHOLE)
    status, out, err = run("top-k", "--format", form)
    assert status == 0
    assert "shortlist.toml" not in out
    assert f"settings: {TOLD}\n" in err


def test_no_file_says_where_the_settings_lie(run, settings, folder):
    settings(WHOLE)
    assert run("top-k", "--output", "top.json")[0] == 0
    assert "shortlist.toml" not in (folder / "top.json").read_text()


def test_a_plan_says_it_too(run, settings):
    settings(WHOLE)
    assert f"\n- Settings: {TOLD}.\n" in run("top-k", "--dry-run")[1]
    status, out, err = run("top-k", "--dry-run", "--json")
    assert status == 0
    assert "shortlist.toml" not in json.dumps(json.loads(out))
    assert err == f"settings: {TOLD}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilonn = 1", 'shortlist.toml: epsilonn is not a setting here. Did you mean "epsilon"?'),
        ("max_items_per_user = 1", 'Did you mean "max-items-per-user"?'),
        ("[topk]\nk = 1", 'topk is not a setting here. Did you mean "top-k"?'),
        ("[domain]\nk = 1", "shortlist.toml, [domain]: k is not a setting here."),
        ("domain = 5", "[domain] must be a table of settings."),
        ('epsilon = "1"', "epsilon must be a number, not '1'."),
        ("k = true", "k must be a whole number, not True."),
        ("noisy-counts = 1", "noisy-counts must be true or false, not 1."),
        ("k = 2.5", "k must be a whole number, not 2.5."),
        ("user = 5", "user must be a text in quotes, not 5."),
        (
            'item = ["a", 5]',
            "item must be a text in quotes, or a list of such texts; the list holds 5.",
        ),
        ("item = 5", "item must be a text in quotes, or a list of such texts, not 5."),
        ("user = ['a']", "user must be a text in quotes, not a value of type list."),
        ("seed = 5", "seed is for the command line alone; it makes answers less private"),
        ("public-items-in-table = true", "is for the command line alone"),
        ('output = "x.csv"', "output is for the command line alone; it is meant for one answer."),
        ("epsilon = \n", "it is not TOML: Invalid value (at line 1, column 11)."),
        ("a = 1\na = 2\n", "it is not TOML: Cannot overwrite a value (at line 2"),
        ("a = " + "[" * 100_000, "it is nested too deeply."),
    ],
)
def test_what_is_wrong_in_the_file_is_told(complaint, settings, text, said):
    settings(text)
    assert said in complaint("top-k", "x.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('user = "usr"\nk = 1', "user is from shortlist.toml: change it there, or type --user, "),
        ('user = "user"\nk = 1\nmechanism = "jiont"', "mechanism is from shortlist.toml: "),
        ('user = "user"\nk = 0', "k is from shortlist.toml: change it there, or type -k, which"),
    ],
)
def test_a_refused_value_is_said_to_be_from_the_file(run, settings, file, text, said):
    settings(text)
    status, _, err = run("top-k", file, "--item", "title", *PRIVACY)
    assert status == 2
    assert err.split("\n")[1].startswith(f"shortlist: {said}")


def test_a_table_that_is_not_there_is_said_to_be_from_the_file(run, settings):
    settings(WHOLE.replace("plays", "no"))
    where = "file is from shortlist.toml: change it there, or type FILE, which comes first."
    assert run("top-k")[2].split("\n")[1] == f"shortlist: {where}"


@pytest.mark.parametrize(
    ("more", "typed", "said"),
    [
        ("", ["--store", "x.db"], "omit one of the two (set in shortlist.toml: file)."),
        ("", ["--who", "Ann"], "--who goes with --budget; give both, or omit it."),
        ('who = "Ann"\n', [], "give both, or omit it (set in shortlist.toml: who)."),
    ],
)
def test_a_setting_that_does_not_fit_what_is_typed_is_named(run, settings, more, typed, said):
    settings(more + WHOLE)
    status, _, err = run("top-k", *typed)
    assert status == 2
    assert err.split("\n")[0].endswith(said)


def test_a_file_that_is_no_text_is_refused(complaint, folder):
    (folder / "shortlist.toml").write_bytes(b"user = '\xff'")
    assert "cannot read the settings in shortlist.toml: it is not UTF-8." in complaint("top-k")


@pytest.mark.parametrize(("text", "said"), [("epsilon = -1", "--epsilon -1.0: must be"),
                                            ("delta = 2", "--delta 2.0: must be"),
                                            ('user = "usr"', 'Did you mean "user"?')])  # fmt: skip
def test_values_are_checked_as_if_typed_and_it_is_said_where_they_stand(run, settings, text, said):
    name = text.split()[0]
    lines = [line for line in WHOLE.splitlines() if not line.startswith(name)]
    settings("\n".join([text, *lines]))
    status, out, err = run("top-k")
    assert (status, out) == (2, "")
    assert said in err
    assert f"\nshortlist: {name} is from shortlist.toml: change it there, or type --{name}, " in err


def test_a_refusal_of_something_else_says_what_is_not_typed(run, settings):
    settings("epsilon = 1\nk = 1")
    _, _, err = run("top-k", "no.csv", "--user", "user", "--item", "title")
    assert "k, epsilon: from shortlist.toml. To leave these out: --no-config.\n" in err


def test_a_mark_at_the_beginning_is_passed_over(run, folder):
    (folder / "shortlist.toml").write_text(WHOLE, encoding="utf-8-sig")
    assert run("top-k")[0] == 0


def test_where_the_working_folder_is_gone_there_is_no_file(run, file, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run(*top_k(file))[0] == 0


def test_the_settings_can_be_left_out(complaint, settings):
    settings(WHOLE)
    assert "Missing option '--item'" in complaint("top-k", "--no-config")
    settings("wrong")
    assert "Missing option '--item'" in complaint("top-k", "--no-config")


def test_a_file_can_be_named(run, complaint, settings):
    settings("wrong")
    settings(WHOLE, "other.toml")
    assert "from other.toml\n" in run("top-k", "--config", "other.toml")[1]
    assert "cannot read the settings in none.toml: No such file" in complaint(
        "top-k", "--config", "none.toml"
    )
    for both in itertools.permutations([("--no-config",), ("--config", "other.toml")]):
        said = complaint("top-k", *itertools.chain(*both))
        assert "--config and --no-config: give one of the two." in said


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can chown")
def test_a_file_of_somebody_else_is_not_taken_unasked(run, complaint, settings, folder):
    settings(WHOLE)
    os.chown(folder / "shortlist.toml", 12345, -1)
    foreign = "belongs to somebody else, or others may write to it; if you trust it, name it by"
    assert f"{foreign} --config FILE" in complaint("top-k")
    assert run("top-k", "--config", "shortlist.toml")[0] == 0
    settings(WHOLE, "own.toml")
    (folder / "shortlist.toml").unlink()
    (folder / "shortlist.toml").symlink_to("own.toml")
    assert run("top-k")[0] == 0
    os.chown(folder / "shortlist.toml", 12345, -1, follow_symlinks=False)
    assert foreign in complaint("top-k")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such rights")
def test_a_file_that_everybody_may_write_to_is_not_taken_unasked(complaint, settings, folder):
    settings(WHOLE)
    (folder / "shortlist.toml").chmod(0o666)
    assert "others may write to it" in complaint("top-k")


def test_what_a_question_takes_only_to_refuse_is_not_taken_from_what_all_share(run, settings):
    settings(WHOLE.replace("epsilon", 'public-items = "titles.csv"\nepsilon'))
    assert run("domain")[0] == 0


def test_a_password_in_the_file_is_not_told(complaint, settings):
    settings('file = "postgresql://me:hunter2@nowhere.invalid/x"\nuser = "u"\nitem = "i"\nk = "2"')
    assert "hunter2" not in complaint("top-k")
    settings('budget = ["postgresql://me:hunter2@nowhere.invalid/x"]')
    assert "hunter2" not in complaint("top-k")


def test_a_budget_in_the_file_is_charged(run, settings, folder):
    total = ["--epsilon", "6", "--delta", "1e-5", "--protects", "user", "--dataset", "plays"]
    assert run("budget", "create", folder / "plays.budget", *total)[0] == 0
    settings('budget = "plays.budget"\n' + WHOLE)
    assert '\nbudget      charge 1 of "plays": ' in run("top-k")[1]


def test_other_questions_have_their_own(run, settings, folder):
    (folder / "games.csv").write_text("won,lost\n" + "a,b\n" * 50)
    settings('[rank]\nfile = "games.csv"\nwinner = "won"\nloser = "lost"\nk = 1\nepsilon = 1\n')
    assert run("rank", "--public-items-in-table")[0] == 0


def test_help_and_columns_of_other_commands_do_not_need_a_sound_file(run, settings):
    settings("wrong")
    assert run("top-k", "--help")[0] == run("--version")[0] == 0
    assert run("domain", "plays.parquet", *COLUMNS, *PRIVACY, "--no-config")[0] == 0
