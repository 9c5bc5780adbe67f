"""Names."""

import pytest

from elicit_gym.errors import SettingError, UnknownNameError
from elicit_gym.registry import Registry


def test_unknown_names_suggest_the_nearest() -> None:
    registry: Registry[object] = Registry("judge", {"strict": "builtins:dict", "lenient": "builtins:dict"})
    with pytest.raises(UnknownNameError, match="Did you mean 'strict'"):
        registry.make("strct")


def test_registering() -> None:
    registry: Registry[object] = Registry("judge", {})
    registry.register("mine", "builtins:dict")
    registry.register("mine", "builtins:dict")
    assert registry.make("mine", {"a": 1}) == {"a": 1}
    with pytest.raises(SettingError, match="expected a free name"):
        registry.register("mine", "builtins:list")
    with pytest.raises(SettingError, match="expected 'module:attribute'"):
        registry.register("other", "builtins")


def test_unregistering_what_is_ones_own() -> None:
    registry: Registry[object] = Registry("judge", {"scripted": "builtins:dict"})
    registry.register("mine", "builtins:dict")
    registry.unregister("mine")
    assert registry.names() == ("scripted",)
    registry.register("mine", "builtins:list")  # the name is free again
    with pytest.raises(UnknownNameError, match="Unknown judge 'mime'. Did you mean 'mine'"):
        registry.unregister("mime")
    with pytest.raises(SettingError, match="Unregistering the judge 'scripted': expected a name that was registered"):
        registry.unregister("scripted")
    assert registry.names() == ("mine", "scripted")


def test_wrong_arguments_are_a_setting_error() -> None:
    registry: Registry[object] = Registry("judge", {"scripted": "elicit_gym.judges.scripted:ScriptedJudge"})
    with pytest.raises(SettingError, match="Making the judge 'scripted' with"):
        registry.make("scripted", {"strength": 3})
