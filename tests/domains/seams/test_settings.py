"""Settings: each variable read by its type, each bad value refused by its name."""

from dataclasses import fields
from pathlib import Path

import pytest

from atrium.seams.setting_values import Home
from atrium.seams.settings import BadSetting, Settings, describe_settings, read_settings

KINDS = {field.name: field.type for field in fields(Settings)}
NUMBERS = sorted(name for name, kind in KINDS.items() if kind is int)
LEAST = {f.name: f.metadata["least"] for f in fields(Settings)}
MAY_BE_NOTHING = sorted(f.name for f in fields(Settings) if f.type is int and f.metadata["least"] == 0)
SWITCHES = sorted(name for name, kind in KINDS.items() if kind is bool)


def variable(name: str) -> str:
    return f"SERVICE_{name.upper()}"


def test_nothing_set_gives_the_defaults() -> None:
    assert read_settings({}) == Settings()


def test_other_variables_are_left_alone() -> None:
    assert read_settings({"HOME": "beta", "DATABASE_URL": "x", "SERVICE_UNKNOWN": "x"}) == Settings()


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_read(name: str) -> None:
    assert getattr(read_settings({variable(name): "7"}), name) == 7


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("text", ["", "many", "1.5", "0x10", "1e3", "-1"])
def test_what_is_no_number_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"{variable(name)}={text!r}"):
        read_settings({variable(name): text})


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - set(MAY_BE_NOTHING)))
def test_a_limit_of_nothing_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadSetting, match=rf"{variable(name)}='0'.*at least {LEAST[name]}\b"):
        read_settings({variable(name): "0"})


@pytest.mark.parametrize("name", MAY_BE_NOTHING)
def test_zero_is_a_number_where_it_means_something(name: str) -> None:
    assert getattr(read_settings({variable(name): "0"}), name) == 0


@pytest.mark.parametrize(("name", "most"), [("s3_port", 65_535), ("blob_keep_hours", 876_600)])
def test_a_number_beyond_its_end_is_refused_by_name(name: str, most: int) -> None:
    assert getattr(read_settings({variable(name): str(most)}), name) == most
    with pytest.raises(BadSetting, match=f"{variable(name)}='{most + 1}'.*at least 0 and at most {most}"):
        read_settings({variable(name): str(most + 1)})


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("true", True), ("YES", True), ("0", False), ("False", False), ("no", False)]
)
def test_a_switch_is_read(name: str, text: str, value: bool) -> None:
    assert getattr(read_settings({variable(name): text}), name) is value


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("text", ["2", "on", "maybe", " 1"])
def test_what_is_no_switch_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"{variable(name)}={text!r} cannot be read: it takes 1 or 0"):
        read_settings({variable(name): text})


def test_a_closed_set_is_read() -> None:
    settings = read_settings({"SERVICE_HOME": "beta", "SERVICE_LOG_LEVEL": "debug"})

    assert (settings.home, settings.log_level) == (Home.BETA, "debug")


@pytest.mark.parametrize(
    ("name", "text", "takes"),
    [
        ("SERVICE_HOME", "kitchen", r"console\|beta"),
        ("SERVICE_HOME", "", r"console\|beta"),
        ("SERVICE_LOG_LEVEL", "loud", r"debug\|info\|warning\|error"),
        ("SERVICE_LOG_LEVEL", "basic_format", r"debug\|info\|warning\|error"),
    ],
)
def test_a_value_outside_its_set_is_refused_by_name(name: str, text: str, takes: str) -> None:
    with pytest.raises(BadSetting, match=f"{name}={text!r} cannot be read: it takes {takes}"):
        read_settings({name: text})


def test_push_executors_are_read_and_found_by_name() -> None:
    text = '[{"name": "Big one", "url": "http://10.0.0.7:8000/v1", "key": "sk-1", "model": "llama"}, {"name": "b", "url": "https://b"}]'

    found = read_settings({"SERVICE_PUSH_EXECUTORS": text}).push_executors

    assert [one.name for one in found] == ["Big one", "b"]
    assert found.find("big ONE") == found[0]
    assert (found[0].key, found[1].key, found.find("c")) == ("sk-1", "", None)


@pytest.mark.parametrize(
    "text",
    [
        "sk-secret",
        '{"name": "sk-secret"}',
        '[{"name": "sk-secret"}]',
        '[{"name": "sk-secret", "url": "file:///etc/passwd"}]',
        '[{"name": "local", "url": "http://a", "key": "sk-secret"}]',
        '[{"name": "a", "url": "http://a", "key": "sk-secret"}, {"name": "A", "url": "http://b"}]',
        '[{"name": "a", "url": "http://a", "api_key": "sk-secret"}]',
    ],
)
def test_push_executors_that_cannot_be_are_refused_without_repeating_their_keys(text: str) -> None:
    with pytest.raises(BadSetting, match="SERVICE_PUSH_EXECUTORS cannot be read: it takes a JSON list") as refusal:
        read_settings({"SERVICE_PUSH_EXECUTORS": text})

    assert "sk-secret" not in str(refusal.value)


def test_a_folder_is_a_path() -> None:
    assert read_settings({"SERVICE_DATA_DIR": "some/where"}).data_dir == Path("some/where")


def test_an_override_wins_over_the_environment() -> None:
    assert read_settings({"SERVICE_DATABASE_POOL": "3"}, database_pool=4).database_pool == 4


def test_the_process_environment_is_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_DEFAULT_LOCALE", "is")

    assert read_settings().default_locale == "is"


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Settings().database_pool = 1  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_the_description_has_every_variable_with_its_default_and_a_sentence(name: str) -> None:
    lines = describe_settings().splitlines()

    [at] = [number for number, line in enumerate(lines) if line.startswith(f"{variable(name)}=")]

    assert lines[at + 1].startswith("    ")
    assert lines[at + 1].endswith(".")


def test_a_described_default_reads_back_as_itself() -> None:
    described = dict(line.split("=", 1) for line in describe_settings().splitlines() if line.startswith("SERVICE_"))

    assert read_settings(described) == Settings()
