"""Commands in forks of one process: what they print, how they end, and what becomes of those that do not end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAMS = {
    "speaks": "import sys\nprint('said', *sys.argv[1:])\n",
    "ends": "raise SystemExit(3)\n",
    "ends_with_words": "raise SystemExit('no')\n",
    "breaks": "1 / 0\n",
    "stays": "import time\nprint('begun', flush=True)\ntime.sleep(60)\n",
    "keeps": "import json\nprint(hasattr(json, 'kept'))\njson.kept = True\n",
}


@pytest.mark.medium
def test_each_command_is_a_process_of_its_own_with_a_status_and_a_limit(tmp_path):
    for name, text in PROGRAMS.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    asked = [
        (["speaks", "a", "b"], 30),
        (["ends"], 30),
        (["ends_with_words"], 30),
        (["breaks"], 30),
        (["stays"], 0.5),
        (["keeps"], 30),
        (["keeps"], 30),
    ]
    lines = "".join(json.dumps({"words": words, "limit": limit}) + "\n" for words, limit in asked)
    paths = [str(ROOT / "engine"), str(ROOT), str(tmp_path)]
    program = f"import sys\nsys.path[:0] = {paths!r}\nfrom tools.profile_server import main\nmain()\n"
    done = subprocess.run(
        [sys.executable, "-c", program], input=lines, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["status"] for answer in answers] == [0, 3, 1, 1, 124, 0, 0]
    assert [answer["printed"] for answer in answers] == ["said a b\n", "", "", "", "begun\n", "False\n", "False\n"]
