#!/usr/bin/env python3
"""Checks what schema_samples prints and docs/schema/examples against docs/schema: valid, and without a key that the
schema does not name.

usage: check_schema.py SCHEMA_DIR PROGRAM RECORDING…      exit code 77: python3-jsonschema is not installed
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)


def closed(schema):
    """The schema with every object limited to the keys that it names."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: closed(value) for key, value in schema.items()}
    if out.get("type") == "object" and isinstance(out.get("properties"), dict):
        out.setdefault("additionalProperties", False)
    return out


def main():
    folder, program, *recordings = sys.argv[1:]
    schemas = {path.stem: json.loads(path.read_text()) for path in pathlib.Path(folder).glob("*.json")}
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    strict = {name: closed(schema) for name, schema in schemas.items()}
    store = {schema["$id"]: schema for schema in strict.values()}
    validators = {
        name: jsonschema.Draft202012Validator(
            schema, resolver=jsonschema.RefResolver(schema["$id"], schema, store=store))
        for name, schema in strict.items()
    }
    lines = subprocess.run([program, *recordings], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
    checked = dict.fromkeys(validators, 0)
    for path in sorted(pathlib.Path(folder, "examples").glob("*.json")):
        error = jsonschema.exceptions.best_match(list(validators[path.stem].iter_errors(json.loads(path.read_text()))))
        if error:
            sys.exit(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
        checked[path.stem] += 1
    for number, line in enumerate(lines):
        name, text = line.split("\t", 1)
        if name != "event" and checked[name] >= 40 and number % 16:
            continue  # the validator is slow
        error = jsonschema.exceptions.best_match(list(validators[name].iter_errors(json.loads(text))))
        if error:
            sys.exit(f"{name} {number}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
        checked[name] += 1
    print(checked)
    del checked["import"]  # nothing here writes it: tests/importer checks those who do
    if not all(checked.values()):
        sys.exit("nothing was checked for one of the schemas")


main()
