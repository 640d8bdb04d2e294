#!/usr/bin/env python3
"""Whether the recording with every field has every field that docs/schema/recording.json documents: what it lacks is not
tested to come back. every_field.py RECORDING_SCHEMA EVERY_FIELD_JSONL
"""
import json
import sys


def mark(schema, node, value, path, seen):
    """Marks what `value` has of `node`; `seen`: by path, whether any value has it."""
    if "$ref" in node:
        path = node["$ref"].removeprefix("#/$defs/")
        node = schema["$defs"][path]
    for key, child in node.get("properties", {}).items():
        if child.get("deprecated"):  # read, and no longer written
            continue
        here = isinstance(value, dict) and key in value
        seen[f"{path}.{key}"] = seen.get(f"{path}.{key}", False) or here
        if here:
            mark(schema, child, value[key], f"{path}.{key}", seen)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        for each in value:
            mark(schema, node["items"], each, path, seen)
    if isinstance(value, dict) and isinstance(node.get("additionalProperties"), dict):
        for key, each in value.items():
            if key not in node.get("properties", {}):
                mark(schema, node["additionalProperties"], each, path, seen)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    seen = {}
    for line in lines:
        mark(schema, {"$ref": "#/$defs/header" if "schema" in line else "#/$defs/snapshot"}, line, "", seen)
    missing = sorted(path for path, here in seen.items() if not here)
    for path in missing:
        print(f"{sys.argv[2]} has no {path}")
    print(f"{len(seen) - len(missing)} of {len(seen)} documented fields")
    return 1 if missing or len(seen) < 100 else 0


sys.exit(main())
