import pytest

from assistant.safety.network import brings_text_in


@pytest.mark.parametrize(
    "command",
    [
        "curl http://x",
        "cat f | ssh host x",
        "git clone git@host:x",
        "git pull",
        "npm install",
        "sh -c 'wget x'",
        "timeout 5 curl x",
        "echo $(curl x)",
        "python x.py",
        "./prog",
        "frobnicate",
        "$x",
        "echo (",
        "cat < /dev/tcp/host/80",
        "open ftp://x",
        "bash x.sh",
    ],
)
def test_what_may_come_over_the_network_is_not_believed(command):
    assert brings_text_in(command)


@pytest.mark.parametrize(
    "command",
    ["ls", "cat f | sort", "git log", "make test", "npm test", "cargo build", "timeout 5 ls", "f() { ls; }; f", "x=1"],
)
def test_what_stays_on_the_machine_is_believed(command):
    assert not brings_text_in(command)
