# Calls a tool, cuts the connection after the first event, and resumes the stream on whichever replica answers.
# Needs: sh, curl, sed, grep, awk. URL is the endpoint, TOOL the tool, ARGUMENTS its arguments in JSON.
set -eu
cd "$(mktemp -d)"

mcp() {
  curl -sSN --max-time 60 -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2025-11-25' "$@" "$URL"
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

mcp -D head.txt -o answer.txt -d '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
  "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"helm-test","version":"1"}}}'
SESSION=$(awk 'tolower($1) == "mcp-session-id:" { print $2 }' head.txt | tr -d '\r')
[ -n "$SESSION" ] || fail "no session: $(cat head.txt answer.txt)"
mcp -H "Mcp-Session-Id: $SESSION" -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
echo "opened a session"

# The first event has an id and no data. The connection is cut after it: "sed" ends, or else the time is over.
ID=$(mcp --max-time 5 -H "Mcp-Session-Id: $SESSION" -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{
  "name":"'"$TOOL"'","arguments":'"$ARGUMENTS"'}}' 2>/dev/null | sed -n '/^id:/{s/^id: *//p;q;}' | tr -d '\r')
[ -n "$ID" ] || fail "the call has no stream"
echo "called $TOOL and cut the connection after $ID"

# A connection of its own for each, so that a balancer may choose another replica.
for try in 1 2 3; do
  mcp -H "Mcp-Session-Id: $SESSION" -H "Last-Event-ID: $ID" >rest.txt || fail "attempt $try to resume: $(cat rest.txt)"
  [ "$(grep -c '^data:.*"id": *2[,}]' rest.txt)" = 1 ] || fail "attempt $try to resume did not get one result: $(cat rest.txt)"
done
echo "resumed the stream three times and got the result each time"
curl -sS -o /dev/null -X DELETE -H "Mcp-Session-Id: $SESSION" -H 'MCP-Protocol-Version: 2025-11-25' "$URL"
