-- Appends a batch of events to a stream in one write: all events or none. Without events, only
-- records the last position of the stream. Removes events that were written but were then delivered
-- unlogged; these have numbers between the stored and the last one of the writer.
-- KEYS session hash, stream
-- ARGV stream, owner, ms and number of the writer's last position, number of the last event that
--      the writer knows to be stored, upstream id of the events delivered unlogged (or ''), this
--      replica, channel prefix, session, most events of a stream, time to live of events in ms, what
--      the reader on this replica has ('-' for no reader, '' for no news), then for each event:
--      flags ('u' upstream id, 'z' last), payload, upstream id
-- Returns the position of the last event, also for a retry, 'FENCED' if nothing was written, or
-- 'AGAIN' if the script must run again because there is much to remove. If a reader on another
-- replica is connected, the position that it has and the tail follow.
local FIRST, FIELDS = 13, 3
local name, owner = ARGV[1], ARGV[2]
local expected, stored = tonumber(ARGV[4]), tonumber(ARGV[5])
local timeToLive = tonumber(ARGV[11])
local count = (#ARGV - FIRST + 1) / FIELDS
local state = redis.call('HMGET', KEYS[1], OWNER .. name, LAST .. name, TAIL .. name,
  DELIVERED .. name, CALL .. name)
local tail = state[3]
local read = readUpTo(tail, ARGV[7], ARGV[12], state[4])

local function newest()
  return redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
end

local function parts(position)
  local millis, number = string.match(position, '^(%d+)%-(%d+)$')
  return tonumber(millis), tonumber(number)
end

-- Returns whether an entry is the last of the stream and this owner wrote it.
local function isOwnEnd(entry)
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'z' then
      return entry[2][i + 1] == owner
    end
  end
end

local position = state[2]
local ended = false
if state[1] ~= owner then
  -- An earlier attempt that completed the stream has left this owner in the entry.
  local found = not state[1] and redis.call('EXISTS', KEYS[1]) == 1 and newest()
  if not found or not isOwnEnd(found) then
    return 'FENCED'
  end
  position, ended = found[1], true
elseif not position then
  local found = newest()
  position = found and found[1] or '0-0'
end

local millis, number = parts(position)
if count > 0 and number == expected + count then
  -- This is a retry: an earlier attempt has written the batch.
  return position .. remoteReader(tail, ARGV[7], read)
end
-- Only the owner writes, one batch at a time, and later batches have higher numbers. So a later
-- batch overtook this one, which was delayed on a connection that the writer had dropped.
if number > expected or (ended and (number <= stored or count == 0)) then
  return 'FENCED'
end

-- A batch without a reply may have been written before its events were delivered unlogged. Later
-- readers must not get these events too. Entries are read one at a time, since payloads are large.
-- They are removed last: Redis that is out of memory refuses a script only at its first write, and
-- the script must not remove an event before that.
local unlogged = {}
local entry = number > stored and newest()
while entry and select(2, parts(entry[1])) > stored do
  if #unlogged == MOST then
    redis.call('XDEL', KEYS[2], unpack(unlogged, 2)) -- The newest shows where the stream ends.
    return 'AGAIN'
  end
  unlogged[#unlogged + 1] = entry[1]
  entry = redis.call('XREVRANGE', KEYS[2], '(' .. entry[1], '-', 'COUNT', 1)[1]
end

-- A stored number below the writer's leaves a gap: the events were delivered unlogged, or Redis has
-- lost them.
local now = currentMillis()
local prefix = string.format('%.0f-', math.max(now, millis, tonumber(ARGV[3])))
local last, complete = ARGV[3] .. '-' .. ARGV[4], false
number = expected
for i = FIRST, #ARGV, FIELDS do
  number = number + 1
  last = prefix .. string.format('%.0f', number)
  local flags = ARGV[i]
  if flags == '' then
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1])
  elseif flags == 'u' then
    redis.call('XADD', KEYS[2], last, 'd', ARGV[i + 1], 'u', ARGV[i + 2])
  else
    local fields = { 'd', ARGV[i + 1], 'z', owner }
    if flags == 'uz' then
      table.insert(fields, 'u')
      table.insert(fields, ARGV[i + 2])
    end
    if state[5] then
      table.insert(fields, 'c') -- The field of the session goes.
      table.insert(fields, state[5])
    end
    redis.call('XADD', KEYS[2], last, unpack(fields))
    complete = true
  end
end
if #unlogged > 0 then
  redis.call('XDEL', KEYS[2], unpack(unlogged))
end
local interval = extensionInterval(timeToLive)
local due = count == 0 or isDue(millis, now, interval)
trim(KEYS[2], expected, number, tonumber(ARGV[10]), due, now - timeToLive, read)
if complete then
  redis.call('PEXPIRE', KEYS[2], timeToLive)
  local ended = { OWNER .. name, REQUESTS .. name, LAST .. name, DELIVERED .. name,
    UPSTREAM .. name, CALL .. name }
  -- The record of a reader on another replica stays until the reader has the end, or has left. One
  -- with the number 0 has not come yet, and may never do.
  if not tail or replicaOf(tail) == ARGV[7] or string.match(tail, ' 0$') then
    ended[#ended + 1] = TAIL .. name
  end
  redis.call('HDEL', KEYS[1], unpack(ended))
else
  if due then
    redis.call('PEXPIRE', KEYS[2], timeToLive + interval)
  end
  if read and #ARGV[12] > 1 then
    redis.call('HSET', KEYS[1], LAST .. name, last, DELIVERED .. name, read)
  else
    redis.call('HSET', KEYS[1], LAST .. name, last)
  end
  if ARGV[6] ~= '' then
    redis.call('HSET', KEYS[1], UPSTREAM .. name, ARGV[4] .. ' ' .. ARGV[6])
  end
end
if tail and replicaOf(tail) ~= ARGV[7] then
  redis.call('PUBLISH', ARGV[8] .. replicaOf(tail), 'wake ' .. ARGV[9] .. ' ' .. name)
end
return last .. remoteReader(tail, ARGV[7], read)
