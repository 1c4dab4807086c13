#!/bin/sh
# Prints the section of CHANGELOG.md (on stdin) about a version, without its heading. Fails if there is none.
set -eu
notes=$(awk -v heading="## [$1]" 'index($0, "## ") == 1 { inside = index($0, heading) == 1; next } inside')
[ -n "$notes" ] || { echo "CHANGELOG.md has no section $1" >&2; exit 1; }
printf '%s\n' "$notes"
