#!/bin/sh
# Walks east, else south, west, north: an agent for scenarios without a kernel and without claims, such as toy-basic.
propose() { printf '{"action":{"op":"move","dir":"%s"},"score":%s}' "$1" "$2"; }

while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9][0-9]*\).*/\1/') # other ids are texts
  case $line in
    *'"type":"hello"'*) answer='"type":"hello","name":"wanderer"' ;;
    *'"type":"decide"'*)
      answer="\"type\":\"proposals\",\"proposals\":[$(propose E 4),$(propose S 3),$(propose W 2),$(propose N 1)]" ;;
    *) answer='"type":"ready"' ;;
  esac
  printf '{"id":%s,%s}\n' "$id" "$answer"
done
