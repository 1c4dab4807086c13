#!/bin/sh
# An MCP server over stdio that does what a test tells it: it runs the shell code that stands, in
# base64, as "sh" in a message; in $id the message's id as it was written. What it runs at other
# times comes in variables: ON_START, ON_INITIALIZE, and AT_END when stdin was closed. It records
# each line that it gets in the file $RECORD.

say() {
  printf '%s\n' "$1"
}

reply() {
  say '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'
}

log() {
  say '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"'"$1"'"}}'
}

welcome() {
  reply '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}'
}

eval "${ON_START:-}"
while IFS= read -r line; do
  if [ -n "${RECORD:-}" ]; then
    printf '%s\n' "$line" >> "$RECORD"
  fi
  id=${line#*\"id\":}
  id=${id%%[,\}]*}
  case $line in
    *'"method":"initialize"'*)
      eval "${ON_INITIALIZE:-welcome}"
      ;;
    *'"sh":"'*)
      sh=${line#*\"sh\":\"}
      eval "$(printf '%s' "${sh%%\"*}" | base64 -d)"
      ;;
  esac
done
eval "${AT_END:-}"
