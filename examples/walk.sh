#!/usr/bin/env bash
# Shows that a call outlives its client and its replica. Needs curl and a Redis.
#
# A server runs a tool for 20 seconds. Its client waits for 5 seconds at most. The replica that serves the call
# is killed. The client gets the result from another replica.
set -euo pipefail

REDIS=${REDIS:-redis://localhost:6379}
HOLDFAST=${HOLDFAST:-"$(dirname "$0")/../holdfast"}
SERVER=${SERVER:-8090} FIRST=${FIRST:-8080} SECOND=${SECOND:-8081}
LOGS=$(mktemp -d)

say() { printf '\n%s\n' "$*"; }

# Starts Holdfast at a port, with variables, and waits until it serves.
start() {
  local port=$1
  env "${@:2}" QUARKUS_HTTP_PORT="$port" QUARKUS_MANAGEMENT_PORT=0 \
    $HOLDFAST > "$LOGS/$port.log" 2>&1 &
  local process=$!
  until curl -sf -o "$LOGS/health" "http://localhost:$port/health"; do
    kill -0 $process || { cat "$LOGS/$port.log"; exit 1; }
    sleep 0.2
  done
  PROCESSES="${PROCESSES:-} $process"
  STARTED=$process
}
trap 'kill $PROCESSES 2> "$LOGS/kill" || true' EXIT

# Sends a message to a replica, as a client that waits for 5 seconds at most.
mcp() {
  curl -sN --max-time 5 "http://localhost:$1/mcp" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2025-11-25' "${@:2}"
}

call() {
  mcp "$1" -H "$SESSION" -d '{"jsonrpc":"2.0","id":'"$2"',"method":"tools/call","params":
    {"name":"'"$3"'","arguments":'"$4"'}}' | sed -n 's/^data: *//p' | grep '"result"'
}

say "Starting an MCP server and two replicas of the gateway before it"
start "$SERVER"
GATEWAY=("HOLDFAST_STORE=redis" "QUARKUS_REDIS_HOSTS=$REDIS" "HOLDFAST_UPSTREAM_URL=http://localhost:$SERVER/mcp"
  "HOLDFAST_CALLS_HOLD_AFTER=3s")
start "$FIRST" "${GATEWAY[@]}"
REPLICA=$STARTED
start "$SECOND" "${GATEWAY[@]}"

mcp "$FIRST" -D "$LOGS/head" -o "$LOGS/initialized" -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":
  {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"walk","version":"1"}}}'
SESSION="Mcp-Session-Id: $(awk 'tolower($1) == "mcp-session-id:" { print $2 }' "$LOGS/head" | tr -d '\r')"
mcp "$FIRST" -H "$SESSION" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'

say "Calling a tool that runs for 20 seconds. The gateway answers before the client gives up:"
HELD=$(call "$FIRST" 2 countdown '{"from":20}')
echo "$HELD"
HANDLE=$(sed 's/.*result: \([^"]*\)".*/\1/' <<< "$HELD")

say "Killing the replica that runs the call"
kill -9 "$REPLICA"
wait "$REPLICA" 2> "$LOGS/kill" || true

say "Asking the other replica for the result:"
for id in $(seq 3 20); do
  RESULT=$(call "$SECOND" "$id" wait_for_result '{"handle":"'"$HANDLE"'"}')
  cut -c1-120 <<< "$RESULT"
  case $RESULT in *liftoff*) exit 0 ;; esac
done
exit 1
