-- Records the bytes of sessions, and finds a session to purge while all together, or those of one
-- client, have too many: the largest one of the client that has the most. Only one replica at a time
-- gets an answer, so that no two purge at once.
-- KEYS sessions by their bytes, sum of all bytes, lock, clients of sessions, clients by their bytes.
--      The key of a client's sessions is the last one, a colon and the client
-- ARGV replica, most bytes of all sessions, most bytes of a client, time to live of the record in ms,
--      then for each session: session, bytes (0 to remove it), client ('' for the one on record)
-- Returns the session, its bytes, and how many bytes to purge; an empty list when there is nothing to
--      purge.
local LOCKED = 2000 -- ms for which the other replicas wait
-- Purges so much more than necessary that the next report needs none.
local KEPT_PART = 0.875
local mostOfAll, mostOfClient = tonumber(ARGV[2]), tonumber(ARGV[3])
local sum = tonumber(redis.call('GET', KEYS[2])) or 0

local function sessionsOf(client)
  return KEYS[5] .. ':' .. client
end

-- The score of a client is the sum of its own set: an earlier version keeps only the set of all.
local function record(session, bytes, client)
  local known = redis.call('HGET', KEYS[4], session)
  client = known or client
  local sessions = sessionsOf(client)
  local added = bytes - (tonumber(redis.call('ZSCORE', sessions, session)) or 0)
  sum = sum + bytes - (tonumber(redis.call('ZSCORE', KEYS[1], session)) or 0)
  if bytes > 0 then
    redis.call('ZADD', KEYS[1], bytes, session)
    redis.call('ZADD', sessions, bytes, session)
    redis.call('PEXPIRE', sessions, ARGV[4])
    if not known then
      redis.call('HSET', KEYS[4], session, client)
    end
  else
    redis.call('ZREM', KEYS[1], session)
    redis.call('ZREM', sessions, session)
    redis.call('HDEL', KEYS[4], session)
  end
  if tonumber(redis.call('ZINCRBY', KEYS[5], added, client)) <= 0 then
    redis.call('ZREM', KEYS[5], client)
  end
end

local function largest(set)
  local found = redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')
  return found[1], tonumber(found[2]) or 0
end

for i = 5, #ARGV, 3 do
  record(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2])
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return {}
end
redis.call('SET', KEYS[2], string.format('%.0f', sum), 'PX', ARGV[4])
for _, key in ipairs({ KEYS[1], KEYS[4], KEYS[5] }) do
  redis.call('PEXPIRE', key, ARGV[4])
end

local client, ofClient = largest(KEYS[5])
local excess = 0
if sum > mostOfAll then
  excess = sum - mostOfAll * KEPT_PART
end
if ofClient > mostOfClient then
  excess = math.max(excess, ofClient - mostOfClient * KEPT_PART)
end
local owner = redis.call('GET', KEYS[3])
if excess == 0 or (owner and owner ~= ARGV[1]) then
  return {}
end
redis.call('SET', KEYS[3], ARGV[1], 'PX', LOCKED)
local session, bytes = largest(KEYS[1])
-- A session that is larger than any client is one that only an earlier version has reported.
if bytes <= ofClient then
  session, bytes = largest(sessionsOf(client))
end
return { session, string.format('%.0f', bytes), string.format('%.0f', excess) }
