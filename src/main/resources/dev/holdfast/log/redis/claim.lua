-- Claims the open streams of a session whose owner is a replica that was lost: all, or those named.
-- The streams' keys are not in KEYS, but share their slot.
-- KEYS session | ARGV former replica, owner, most events to look back for an upstream id,
--      names
-- Returns per stream: name, requests, last position, upstream id (or none), stream that keeps its
-- events (or none).
local former, owner = ARGV[1], ARGV[2]
local claimed = {}
local named = {}
for i = 4, #ARGV do
  named[ARGV[i]] = true
end
local fields = redis.call('HGETALL', KEYS[1])
local value = {}
for i = 1, #fields, 2 do
  value[fields[i]] = fields[i + 1]
end

-- The newest that an event has, or that was noted after that event.
-- One entry at a time: payloads are large, and nearly always the newest has what is looked for.
local function upstreamId(name)
  local number, noted = string.match(value['u:' .. name] or '', '^(%d+) (.*)$')
  if value['i:' .. name] then
    return noted or false -- Its events are among those of others, which tell nothing of it.
  end
  local from = '+'
  for _ = 1, tonumber(ARGV[3]) do
    local entry = redis.call('XREVRANGE', KEYS[1] .. ':e:' .. name, from, '-', 'COUNT', 1)[1]
    if not entry then
      return noted or false
    end
    if noted and tonumber(string.match(entry[1], '%-(%d+)$')) <= tonumber(number) then
      return noted
    end
    for i = 1, #entry[2], 2 do
      if entry[2][i] == 'u' then
        return entry[2][i + 1]
      end
    end
    from = '(' .. entry[1]
  end
  return noted or false
end

for field, current in pairs(value) do
  local name = string.match(field, '^o:(.+)$')
  -- One that is claimed already: this is a retry, and finds itself.
  if name and (#ARGV < 4 or named[name])
      and (current == owner or string.match(current, '^(%S+)') == former) then
    redis.call('HSET', KEYS[1], field, owner)
    claimed[#claimed + 1] =
      { name, value['r:' .. name] or '', value['l:' .. name] or '0-0', upstreamId(name),
        value['i:' .. name] or false }
  end
end
return claimed
