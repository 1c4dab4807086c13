-- Appends a batch of events of one stream to the shared stream that keeps its events, in one write:
-- all events or none. The writer counts the events of its own stream, so the script recognizes a
-- retry. The shared stream counts the events of all its streams.
-- KEYS session hash, shared stream, set of ended streams
-- ARGV stream, owner, number of the writer's last event, shared stream, this replica,
--      channel prefix, session, most events of a stream, time to live of events in ms, what the
--      reader on this replica has (as in append-events.lua), then for each event: flags
--      ('u' upstream id, 'z' last), payload, upstream id
-- Returns '0-' and the number of events that the stream has had, also for a retry, or 'FENCED' if
--      nothing was written. The last position of the shared stream follows, and the reader on
--      another replica as in append-events.lua.
local FIRST, FIELDS = 11, 3
local name, owner, shared = ARGV[1], ARGV[2], ARGV[4]
local expected = tonumber(ARGV[3])
local timeToLive = tonumber(ARGV[9])
local wanted = expected + (#ARGV - FIRST + 1) / FIELDS
local last = string.format('0-%.0f', wanted)
local completion = name .. ' ' .. owner .. ' ' .. last
local state = redis.call('HMGET', KEYS[1],
  OWNER .. name, LAST .. name, OWNER .. shared, LAST .. shared, TAIL .. shared,
  DELIVERED .. shared)
local tail = state[5]
local read = readUpTo(tail, ARGV[5], ARGV[10], state[6])

local function result(position)
  return last .. ' ' .. (position or '0-0') .. remoteReader(tail, ARGV[5], read)
end

if state[1] ~= owner then
  -- An earlier attempt that completed the stream has left this member in the set.
  return not state[1] and redis.call('ZSCORE', KEYS[3], completion) and result(state[4]) or 'FENCED'
end
local number = tonumber(string.match(state[2] or '0-0', '%-(%d+)$'))
if number == wanted then
  return result(state[4]) -- This is a retry: an earlier attempt has written the batch.
end
-- A later batch overtook this one, as in append-events.lua. Or the shared stream does not exist,
-- because Redis has lost data.
if number > expected or not state[3] then
  return 'FENCED'
end

local now = currentMillis()
local millis, newest = string.match(state[4] or '0-0', '^(%d+)%-(%d+)$')
local prefix = string.format('%.0f-', math.max(now, tonumber(millis)))
-- Events of this stream that Redis has lost leave a gap in the shared stream.
newest = tonumber(newest) + expected - number
local before = newest
local position, upstream, complete = false, false, false
number = expected
for i = FIRST, #ARGV, FIELDS do
  number = number + 1
  if ARGV[i + 1] ~= '' then
    newest = newest + 1
    position = prefix .. string.format('%.0f', newest)
    redis.call('XADD', KEYS[2], position, 'd', ARGV[i + 1])
  end
  if string.find(ARGV[i], 'u', 1, true) then
    upstream = string.format('%.0f ', number) .. ARGV[i + 2]
  end
  complete = complete or string.find(ARGV[i], 'z', 1, true)
end
local interval = extensionInterval(timeToLive)
local due = isDue(tonumber(millis), now, interval)
if position then
  trim(KEYS[2], before, newest, tonumber(ARGV[8]), due, now - timeToLive, read)
  redis.call('HSET', KEYS[1], LAST .. shared, position)
  if read and #ARGV[10] > 1 then
    redis.call('HSET', KEYS[1], DELIVERED .. shared, read)
  end
  if due then
    redis.call('PEXPIRE', KEYS[2], timeToLive + interval)
  end
end
if complete then
  redis.call('HDEL', KEYS[1],
    OWNER .. name, REQUESTS .. name, LAST .. name, KEPT_IN .. name, UPSTREAM .. name,
    CALL .. name)
  removePassed(KEYS[3], now)
  -- A retry of this batch finds the first member, a retry of the opening finds the second.
  redis.call('ZADD', KEYS[3], now + timeToLive, completion, now + timeToLive, name)
  redis.call('PEXPIRE', KEYS[3], timeToLive)
else
  redis.call('HSET', KEYS[1], LAST .. name, last)
  if upstream then
    redis.call('HSET', KEYS[1], UPSTREAM .. name, upstream)
  end
end
if position and tail and replicaOf(tail) ~= ARGV[5] then
  redis.call('PUBLISH', ARGV[6] .. replicaOf(tail), 'wake ' .. ARGV[7] .. ' ' .. shared)
end
return result(position or state[4])
