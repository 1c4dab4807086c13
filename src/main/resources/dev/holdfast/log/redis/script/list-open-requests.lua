-- Lists the open streams of a session that answer requests, whichever replica owns them.
-- KEYS session hash
-- Returns for each stream: name, ids of its requests.
local streams = {}
for name in pairs(openStreams()) do
  local requests = redis.call('HGET', KEYS[1], REQUESTS .. name)
  if requests and requests ~= '' then
    streams[#streams + 1] = { name, requests }
  end
end
return streams
