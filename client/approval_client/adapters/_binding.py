"""What a tool will be called with: what the model wrote, read as the framework reads it.

People are shown this and approve its digest. What the framework would drop, round or read in
another way is not asked: the model is told which argument, why, and what is taken.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from copy import deepcopy
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from importlib import import_module
from typing import Any, TypeAlias

from approval_client._refusals import NOT_AS_THEY_ARE, Unaskable
from approval_client.wire import MAX_DEPTH, JsonError, canonical_json, parse_json

Values: TypeAlias = dict[str, Any]
_CAUSES = {
    "duplicate_key": "they name one key twice",
    "lone_surrogate": "a text holds half of a surrogate pair",
    "not_finite": "NaN, Infinity and numbers beyond the range of a double are not JSON",
    "nul_character": "a text holds a NUL character",
    "number_too_long": "a number has too many digits",
    "too_large": "they are far too large",
    "too_deep": f"something is nested deeper than {MAX_DEPTH} levels",
}
_MOST_NAMES = 40
_DIGITS_OF_A_DOUBLE = Decimal("1e-15")
_SAYS_NOTHING = {"metadata", "ref", "config", "default", "expected"}
_STANDARD = {
    *("builtins", "collections", "datetime", "decimal", "ipaddress", "pathlib", "typing", "uuid")
}
_OWN = {"pydantic", "pydantic_core", "pydantic_extra_types"}


def read(arguments: Any) -> Values:
    """Return the arguments that a model wrote; none if it wrote nothing.

    Args:
        arguments: JSON text, or what the provider's library has made of it.

    Raises:
        Unaskable: They are no JSON object, or two readers could read them differently.
    """
    if arguments is None or arguments == "":
        return {}
    try:
        values = parse_json(arguments if isinstance(arguments, str) else canonical_json(arguments))
    except JsonError as error:
        raise unreadable(error) from None
    except (TypeError, RecursionError) as error:
        raise Unaskable(f"The arguments are not JSON: {_short(error)}.") from None
    if not isinstance(values, dict):
        raise Unaskable(f"The arguments are {kind_of(values)}, and a JSON object is taken.")
    return values


def unreadable(error: JsonError, what: str = "The arguments") -> Unaskable:
    """Return what a model is told about JSON that two readers could read differently."""
    cause = _CAUSES.get(error.code, "they are cut off, or written in another way than JSON")
    return Unaskable(f"{what} cannot be read: {cause}.")


def bound(model: Any, arguments: Values) -> Values:
    """Return what a tool with this Pydantic model is called with, as JSON, with all defaults.

    It is under the names that the model's schema has, so that binding it again gives the same. If
    reading takes code of the tool's author, which must not run before it is approved, it is what
    was written and the defaults that are passed as they are.

    Args:
        model: The class by which the framework validates the arguments.
        arguments: What the model wrote.

    Raises:
        Unaskable: A name is not taken, a value is not, or something of it would be lost.
    """
    check_names(arguments, taken(model), open_=model.model_config.get("extra") == "allow")
    if not is_data_only(model):
        return {**_defaults(model), **arguments}
    return settled(arguments, lambda found: _fields_of(validated(model, found)))


def _defaults(model: Any) -> Values:
    checked = model.model_config.get("validate_default", False)
    plain_ = {
        _name(name, field): field.default
        for name, field in model.model_fields.items()
        if not field.is_required()
        and field.default_factory is None
        and not (checked if field.validate_default is None else field.validate_default)
    }
    return hidden(plain_)


class Unsettled(Unaskable):
    """The framework makes something else of the same arguments each time."""


def settled(
    arguments: Values,
    call: Callable[[Values], Values],
    *,
    as_written: Callable[[Values], Values] | None = None,
) -> Values:
    """Return, as JSON, what ``call`` makes of arguments.

    Args:
        call: Reads arguments as the framework does; returns what the tool is called with.
        as_written: Returns what ``call`` does, under the names that arguments have.

    Raises:
        Unaskable: Something of them would be lost, or cannot be shown.
    """
    inputs, named_inputs, again = (
        as_json(read_(deepcopy(_plain(arguments)))) for read_ in (call, as_written or call, call)
    )
    if lost := next(_lost(arguments, named_inputs, "arguments"), ""):
        raise Unaskable(lost)
    if canonical_json(again) != canonical_json(inputs):  # to Python, true is 1
        raise Unsettled("The tool would be called with something else each time that it is asked.")
    return inputs


def edited(ask: Callable[[Any], Values], written: Any, changed: Values) -> Values:
    """Return what a tool has to be given so that it is called with what a person made of a call.

    Defaults that the person left as they were are not in it: a tool need not take them.

    Args:
        ask: Returns what the tool is called with, of what a model wrote.
        written: What the model wrote.
        changed: The arguments as the person wants them, all of them.

    Raises:
        Unaskable: The tool would not be called with just these.
    """
    original, inputs = read(written), ask(written)
    same = {name for name in inputs if canonical_json(inputs[name]) == _text_of(changed, name)}
    edits = {name: changed[name] for name in changed if name in original or name not in same}
    if canonical_json(ask(edits)) != canonical_json(changed):
        raise Unaskable(NOT_AS_THEY_ARE)
    return edits


def _text_of(values: Values, name: str) -> str | None:
    return canonical_json(values[name]) if name in values else None


def without(model: Any, names: Collection[str]) -> Any:
    """Return a Pydantic model that takes no fields of these names."""
    fields_ = {name: field for name, field in model.model_fields.items() if name not in names}
    if len(fields_) == len(model.model_fields):
        return model
    field_definitions = {name: (field.annotation, field) for name, field in fields_.items()}
    make = import_module("pydantic").create_model
    return make(model.__name__, __config__=model.model_config, **field_definitions)


def hidden(defaults: Mapping[str, Any]) -> Values:
    """Return the defaults that can be shown of those that no model may write; no clients."""
    json_defaults: Values = {}
    for name, value in defaults.items():
        with suppress(Unaskable):
            json_defaults |= as_json({name: value})
    return json_defaults


def taken(model: Any) -> list[str]:
    """Return the names under which a Pydantic model takes its fields."""
    return [_name(name, field) for name, field in model.model_fields.items()]


def check_names(
    arguments: Mapping[str, Any], names: Sequence[str], *, open_: bool = False
) -> None:
    """Refuse arguments that the tool does not take, which the framework would drop.

    Raises:
        Unaskable: There is one.
    """
    unknown = [] if open_ else [name for name in arguments if name not in names]
    if unknown:
        takes = ", ".join(map(repr, names[:_MOST_NAMES])) or "no arguments"
        unknown_names = ", ".join(f"{name!r:.80}" for name in unknown[:5])
        raise Unaskable(f"The tool does not take {unknown_names}. It takes {takes}.")


def check_schema(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Refuse arguments that a JSON schema forbids by name; others are handed on as they are.

    Raises:
        Unaskable: There is one.
    """
    if schema.get("additionalProperties") is False:
        check_names(arguments, list(schema.get("properties") or ()))


def check_call(function: Any, names: Collection[str], *, before: Sequence[Any] = ()) -> None:
    """Refuse a call that Python would refuse after people had approved it.

    Args:
        function: What the framework calls; None if it is out of sight.
        names: Those under which the framework passes the arguments.
        before: What it passes before them by its place; the instance of a method, for one.

    Raises:
        Unaskable: The function cannot be called with arguments of these names.
    """
    try:
        taken_ = inspect.signature(function)
    except (TypeError, ValueError):  # none, or one that does not say what it takes
        return
    try:
        taken_.bind(*before, **dict.fromkeys(names))
    except TypeError as error:
        raise Unaskable(f"The tool's function cannot be called with these: {error}.") from None


def edited_note(arguments: Any) -> str:
    """Return what a model is told beside the result of a call that a person changed."""
    return (
        "A person changed the arguments of this call before approving it. It was run with "
        f"{canonical_json(arguments)} and not with yours. Do not make your own call again."
    )


def validated(model: Any, given: Values, **options: Any) -> Any:
    """Return an instance of a Pydantic model.

    Raises:
        Unaskable: A value is not what the model takes.
    """
    try:
        return model.model_validate(given, **options)
    except TypeError:
        if not options:  # which Pydantic knows since 2.11; before, a field has one name
            raise
        return validated(model, given)
    except import_module("pydantic").ValidationError as error:
        raise Unaskable(_invalid(error)) from None


def _fields_of(instance: Any) -> Values:
    values = object.__getattribute__(instance, "__dict__")
    fields_ = type(instance).model_fields
    members = {_name(name, field): values[name] for name, field in fields_.items()}
    return {**members, **(instance.model_extra or {})}


def _plain(given: Any) -> Any:
    """Return JSON without the numbers' own digits, as the framework reads it."""
    match given:
        case dict():
            return {name: _plain(item) for name, item in given.items()}
        case list():
            return [_plain(item) for item in given]
        case bool() | None:
            return given
        case int():
            return int(given)
        case float():
            return float(given)
    return given


def as_json(values: Mapping[str, Any]) -> Values:
    """Return values that a tool is called with as the JSON that they are read from.

    Raises:
        Unaskable: One of them cannot be shown.
    """
    json_values: Values = {}
    for name, value in values.items():
        try:
            json_values[name] = _json(value)
            canonical_json({name: json_values[name]})
        except Exception as error:  # noqa: BLE001 - an object of the author's may raise anything
            raise Unaskable(
                f"arguments.{name:.80} cannot be shown to whoever approves it: {cause(error)}."
            ) from None
    return json_values


def cause(error: Exception) -> str:
    """Return why something is not JSON, as part of a sentence."""
    return _CAUSES.get(getattr(error, "code", ""), _short(error))


def _json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of value
    if isinstance(value, Enum):
        return _json(value._value_)
    if value is None or type(value) in {str, bool, int, float}:
        return value
    if isinstance(value, Mapping):
        entries = {_key(name): _json(item) for name, item in value.items()}
        if len(entries) != len(value):
            raise ValueError("two of its names are written alike")
        return entries
    if isinstance(value, AbstractSet):
        return sorted(map(_json, value), key=canonical_json)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_json(item) for item in value]
    if hasattr(type(value), "model_fields"):
        state = object.__getattribute__(value, "__dict__")
        model_fields = type(value).model_fields
        if getattr(type(value), "__pydantic_root_model__", False):
            return _json(state["root"])
        entries = {_name(name, model_fields[name]): _json(state[name]) for name in model_fields}
        return {**entries, **{k: _json(v) for k, v in (value.model_extra or {}).items()}}
    if is_dataclass(value):
        members = {attr.name: object.__getattribute__(value, attr.name) for attr in fields(value)}
        return {name: _json(member) for name, member in members.items()}
    return _leaf(value)


def _leaf(value: Any) -> Any:
    """Return a date, a path and the like as JSON, if that is all of it."""
    json_value = import_module("pydantic_core").to_jsonable_python(value)
    if import_module("pydantic").TypeAdapter(type(value)).validate_python(json_value) != value:
        raise ValueError(f"a {type(value).__name__} does not say all that it holds")
    return json_value


def _key(name: Any) -> str:
    key = _json(name)
    return key if isinstance(key, str) else canonical_json(key)


def _name(name: str, field: Any) -> str:
    alias = field.validation_alias or field.alias
    return alias if isinstance(alias, str) else name


def _lost(original: Any, read_: Any, where: str) -> Iterator[str]:
    """Say what of a value that a model wrote is not in what the framework made of it."""
    match original, read_:
        case dict(), dict():
            for name in original.keys() - read_.keys():
                yield f"{where}.{name:.80} would be dropped: it is not a name that is taken there."
            for name in original.keys() & read_.keys():
                yield from _lost(original[name], read_[name], f"{where}.{name:.80}")
        case list(), list():
            yield from _lost_of_items(original, read_, where)
        case str(), dict() | list():  # JSON in a text
            yield from _lost_of_text(original, read_, where)
        case None | dict() | list(), _ if read_ != original:
            yield f"{where} would become {kind_of(read_)}, and {kind_of(original)} was written."
        case _, int() | float() | str() if _is_another(original, read_):
            yield f"{where} would become {read_!r:.40}, which is not what was written."


def _lost_of_items(original: list[Any], read_: list[Any], where: str) -> Iterator[str]:
    if len(original) == len(read_):
        for at, (written_item, read_item) in enumerate(zip(original, read_, strict=True)):
            yield from _lost(written_item, read_item, f"{where}[{at}]")
    elif any(item not in read_ for item in original):  # a set holds each of them once
        yield f"{where} would lose items."


def _lost_of_text(original: str, read_: Any, where: str) -> Iterator[str]:
    try:
        yield from _lost(parse_json(original), read_, where)
    except JsonError as error:
        yield f"{where} cannot be read: {cause(error)}."


def _is_another(original: Any, read_: Any) -> bool:
    """Say whether a number, or a text that is one, was read as another number."""
    if isinstance(read_, bool) or isinstance(original, bool):
        return not isinstance(original, str) and original != read_
    if isinstance(original, str) and isinstance(read_, str):
        return False  # which the framework may have made shorter; people see what it made
    text = getattr(original, "text", None) or str(original).strip()
    try:
        exact = Decimal(text)
        number = Decimal(read_ if isinstance(read_, str) else repr(read_))
    except InvalidOperation:  # a word or a date that the framework reads as a number
        return read_ == 0 and text.lstrip("+-.")[:1].isdigit()  # or one that is not quite 0
    if isinstance(read_, int | str) or exact == exact.to_integral_value() or not number:
        return exact != number
    return abs(exact - number) > abs(exact) * _DIGITS_OF_A_DOUBLE


def is_data_only(model: Any, *, dumps: bool = False) -> bool:
    """Say whether validating runs nothing that the tool's author has written.

    Args:
        dumps: The framework also dumps what it has validated.
    """
    plain = import_module("pydantic_core").SchemaValidator
    usual = import_module("pydantic").BaseModel.model_validate
    if type(model.__pydantic_validator__) is not plain:  # a plugin's
        return False
    if model.model_validate.__func__ is not usual.__func__:
        return False
    parts = _parts(model.__pydantic_core_schema__, dumps=dumps)
    return not any(_runs_code(part) for part in parts)


def _parts(schema: Any, *, dumps: bool) -> Iterator[Mapping[str, Any]]:
    skipped = _SAYS_NOTHING if dumps else {*_SAYS_NOTHING, "serialization", "computed_fields"}
    stack = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, Mapping):
            if isinstance(part.get("type"), str):
                yield part
            stack += [item for name, item in part.items() if name not in skipped]
        elif isinstance(part, list | tuple):
            stack += part


def _runs_code(part: Mapping[str, Any]) -> bool:  # noqa: PLR0911 - one for each kind of code
    kind = part["type"]
    if kind.startswith("function-") or kind == "call":
        function = part["function"]
        return not _is_harmless(
            function["function"] if isinstance(function, Mapping) else function
        )
    if kind in {"is-instance", "is-subclass"}:
        return _module(part["cls"]) not in _OWN | _STANDARD
    if kind == "enum":  # which may make members of what is none
        return _module(part["cls"]._missing_) != "enum"
    if kind == "tagged-union":
        return callable(part["discriminator"])
    if factory := part.get("default_factory"):
        return factory not in {list, dict, set}
    if kind == "model" and part.get("post_init"):
        return _has_post_init(part["cls"])
    makes = part.get("custom_init") or part.get("post_init")
    return bool(makes) or kind in {"custom-error", "callable", "computed-field", "generator"}


def _has_post_init(model: Any) -> bool:
    # Pydantic's own sets the private attributes.
    has_factory = any(attr.default_factory for attr in model.__private_attributes__.values())
    return has_factory or _module(model.model_post_init) not in _OWN


def _is_harmless(function: Any) -> bool:
    """Say whether a function is Pydantic's own, calls nothing of others and imports nothing."""
    if _module(function) not in _OWN or "import" in getattr(function, "__name__", ""):
        return False
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    return all(_module(content) in {"", *_OWN, *_STANDARD} for content in cells)


def _module(of: Any) -> str:
    return str(getattr(of, "__module__", "")).partition(".")[0]


def _invalid(error: Any) -> str:
    """Return what a Pydantic error says, by place and without the values."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    places = (
        f"{'.'.join(map(str, ('arguments', *flaw['loc'])))}: {flaw['msg']}" for flaw in errors[:5]
    )
    return f"The arguments are not what the tool takes. {'; '.join(places)}."


def kind_of(value: Any) -> str:
    """Return what kind of JSON a value is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
    return "an object"


def _short(error: BaseException) -> str:
    return f"{error!s:.200}".rstrip(".") or type(error).__name__
