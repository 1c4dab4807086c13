#!/bin/sh
# Shows a call that survives the kill of the replica that runs it, in the deployment of deploy/compose.yaml, with Docker
# or Podman. Exits with 0 if the client got every event exactly once. KILL names another command for the kill; its
# argument is the number of the replica.
set -eu

url=${URL:-http://localhost:8080/mcp}
steps=15
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '%s\n' "$1"; }

fail() {
  say "FAILED: $1" >&2
  exit 1
}

mcp() {
  curl -sN -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2025-11-25' "$@"
}

engine=docker
docker ps >/dev/null 2>&1 || engine=podman

container() { $engine ps -a --filter "label=com.docker.compose.service=holdfast-$1" --format '{{.Names}}'; }

kill_replica() {
  if [ -n "${KILL:-}" ]; then $KILL "$1"; else $engine kill "$(container "$1")" >/dev/null; fi
}

start_replica() {
  if [ -z "${KILL:-}" ]; then
    $engine start "$(container "$1")" >/dev/null
    say "Replica $1 starts again."
  fi
}

# The replica that follows the call: it has a connection.
find_owner() {
  for number in 1 2 3; do
    if curl -s "http://localhost:900$number/q/metrics" | grep -q '^holdfast_connections_active [1-9]'; then
      say "$number"
      return
    fi
  done
}

progress() { sed -n 's/.*"progress":\([0-9]*\).*/\1/p' "$work"/part.*; }

last_id() { cat "$work"/part.* | sed -n 's/^id: *//p' | tail -n 1; }

has_result() { grep -q '"result"' "$work"/part.*; }

mcp "$url" -D "$work/head" -o "$work/answer" -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
  "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"show-take-over","version":"1"}}}' ||
  fail "nothing answers at $url"
id=$(awk 'tolower($1) == "mcp-session-id:" { print $2 }' "$work/head" | tr -d '\r')
[ -n "$id" ] || fail "no session: $(cat "$work/answer")"
session="Mcp-Session-Id: $id"
mcp "$url" -H "$session" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'

say "The client calls a tool that counts down from $steps, once a second."
mcp "$url" -H "$session" --max-time 60 -o "$work/part.00" -d '{"jsonrpc":"2.0","id":2,"method":"tools/call",
  "params":{"name":"countdown","arguments":{"from":'$steps'},"_meta":{"progressToken":"show"}}}' &
call=$!
tries=0
until [ -s "$work/part.00" ] && [ "$(progress | wc -l)" -ge 3 ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 30 ] || fail "the call reports no progress"
  sleep 1
done

owner=$(find_owner)
[ -n "$owner" ] || fail "no replica has the call"
say "Replica $owner runs the call. It has reported $(progress | wc -l | tr -d ' ') steps. Killing replica $owner."
kill_replica "$owner"
wait "$call" || true

part=1
until has_result; do
  [ "$part" -lt 30 ] || fail "the call does not end"
  say "The client resumes after $(last_id)."
  mcp "$url" -H "$session" -H "Last-Event-ID: $(last_id)" --max-time 60 \
    -o "$work/part.$(printf '%02d' "$part")" || true
  part=$((part + 1))
  has_result || sleep 1
done

got=$(progress | tr '\n' ' ')
say "Progress that the client got: $got"
[ "$(progress | sort | uniq -d | wc -l)" -eq 0 ] || fail "an event came twice"
[ "$(progress | sort -n | tail -n 1)" -eq "$(progress | wc -l)" ] || fail "an event is missing"
say "The call survived: nothing is lost, and nothing came twice."
start_replica "$owner"
# A replica that is frozen takes connections and never answers.
mcp "$url" -H "$session" --max-time 10 -X DELETE || true
