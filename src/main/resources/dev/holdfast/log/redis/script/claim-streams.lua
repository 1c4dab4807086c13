-- Claims open streams of a session that another replica owns: the named ones, or some of all. A retry
-- with the same owner returns the same streams. The keys of the streams are not in KEYS; they share
-- the slot of the session hash.
-- KEYS session hash
-- ARGV previous replica, new owner, most events to search for an upstream id in a stream, '0' or the
--      cursor that the run before returned, then names of streams
-- Returns the cursor of the next run, which is '0' after the last, then for each stream: name, ids of
--      its requests, last position, id from which the upstream can resume (or none), shared stream
--      that keeps its events (or none).
local previous, owner = ARGV[1], ARGV[2]
-- Besides the newest event of each stream, one run searches so many events, or events of so many bytes.
local eventsLeft, bytesLeft = MOST, 1048576
local owners, claimed = {}, { '0' }

local function value(kind, name)
  return redis.call('HGET', KEYS[1], kind .. name)
end

for i = 5, #ARGV do
  owners[ARGV[i]] = value(OWNER, ARGV[i]) or nil
end
if #ARGV < 5 then
  local page = redis.call('HSCAN', KEYS[1], ARGV[4], 'MATCH', OWNER .. '*', 'COUNT', 2 * MOST)
  claimed[1] = page[1]
  for i = 1, #page[2], 2 do
    owners[string.sub(page[2][i], 3)] = page[2][i + 1]
  end
end

-- Returns the newest upstream id: that of an event, or one that was recorded after that event.
-- Entries are read one at a time: payloads are large, and nearly always the newest has an id.
local function upstreamId(name)
  local number, recorded = string.match(value(UPSTREAM, name) or '', '^(%d+) (.*)$')
  if value(KEPT_IN, name) then
    return recorded or false -- The entries of a shared stream do not name their stream.
  end
  local from = '+'
  for _ = 1, tonumber(ARGV[3]) do
    local entry = redis.call('XREVRANGE', streamKey(name), from, '-', 'COUNT', 1)[1]
    if not entry then
      return recorded or false
    end
    if recorded and tonumber(string.match(entry[1], '%-(%d+)$')) <= tonumber(number) then
      return recorded
    end
    for i = 1, #entry[2], 2 do
      if entry[2][i] == 'u' then
        return entry[2][i + 1]
      end
    end
    for i = 2, #entry[2], 2 do
      bytesLeft = bytesLeft - #entry[2][i]
    end
    eventsLeft = eventsLeft - 1
    if eventsLeft < 0 or bytesLeft < 0 then
      return recorded or false
    end
    from = '(' .. entry[1]
  end
  return recorded or false
end

for name, current in pairs(owners) do
  -- A retry finds streams that have the new owner already.
  if current == owner or replicaOf(current) == previous then
    redis.call('HSET', KEYS[1], OWNER .. name, owner)
    claimed[#claimed + 1] =
      { name, value(REQUESTS, name) or '', value(LAST, name) or '0-0', upstreamId(name),
        value(KEPT_IN, name) }
  end
end
return claimed
