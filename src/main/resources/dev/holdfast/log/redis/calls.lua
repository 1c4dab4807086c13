-- Names the open streams of a session that answer requests.
-- KEYS session
-- Returns per stream: name, requests.
local calls = {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local name = string.match(fields[i], '^r:(.+)$')
  if name and fields[i + 1] ~= '' then
    calls[#calls + 1] = { name, fields[i + 1] }
  end
end
return calls
