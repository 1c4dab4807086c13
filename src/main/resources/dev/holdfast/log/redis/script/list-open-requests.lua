-- Lists the open streams of a session that answer requests, whichever replica owns them.
-- KEYS session hash
-- Returns for each stream: name, ids of its requests.
local streams = {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local name = streamOf(fields[i], REQUESTS)
  if name and fields[i + 1] ~= '' then
    streams[#streams + 1] = { name, fields[i + 1] }
  end
end
return streams
