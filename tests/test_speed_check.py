"""The speed check finds the last release and compares the best times; nothing is timed here."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from speed_stays_the_same import find_slower, last_release, merge


@pytest.fixture
def git(tmp_path):
    """Return a function that runs git in an empty repository, and commits versions of a file."""

    def run(*words):
        names = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *names, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(text):
        (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
        run("add", ".")
        run("commit", "-m", "one")
        return run("rev-parse", "--short", "HEAD")

    run("init", "--quiet")
    run.commit = commit
    return run


def test_last_release_is_the_newest_tag_or_change_of_version(git, tmp_path):
    git.commit('version = "0.1.0"\n')
    with pytest.raises(SystemExit, match="No release"):
        last_release(tmp_path)
    second = git.commit('version = "0.2.0"\n')
    git.commit('version = "0.2.0"\nname = "a"\n')
    assert last_release(tmp_path) == second
    git.commit('version = "0.3.0"\nname = "a"\n')  # the release in preparation
    assert last_release(tmp_path) == second
    git("tag", "v0.2.0", second)
    git("tag", "other", "HEAD^")
    assert last_release(tmp_path) == "v0.2.0"


def test_slower_jobs_are_found_by_their_best_times():
    best = {
        "fit": {"before": 1.0, "after": 1.3, "qr": 2.0},
        "search": {"before": 1.0, "after": 1.1},
    }
    assert find_slower(best) == ["fit"]
    merge(best, {"fit": {"before": 1.2, "after": 1.0, "qr": 3.0}})
    assert best["fit"] == {"before": 1.0, "after": 1.0, "qr": 2.0}
    assert find_slower(best) == []
    merge(best, {"search": {"plain loop": 0.9}})  # the fastest rival counts
    assert find_slower(best) == ["search"]
