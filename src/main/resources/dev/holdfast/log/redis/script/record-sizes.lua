-- Records the bytes of sessions, and finds a session to purge while all together, or those of one
-- client, have too many. Only one replica at a time gets an answer, so that no two purge at once.
-- While all have too many, delivered streams of any client give way first. The client with the most
-- bytes gives way first, and its largest session.
-- KEYS sessions by their bytes, sum of all bytes, lock, clients of sessions, clients by their bytes.
--      The key of a client's sessions is the last one, a colon and the client. The same for the
--      sessions with delivered streams is the first one, ':delivered', a colon and the client
-- ARGV replica, most bytes of all sessions, most bytes of a client, time to live of the record in ms,
--      number of sessions that have nothing to purge, these sessions, then for each session to
--      record: session, bytes (0 to remove it), bytes of its delivered complete streams, client (''
--      for the one on record)
-- Returns the session, the bytes that it may keep, and 'delivered' if only delivered streams are to
--      be removed, else ''; an empty list when there is nothing to purge.
local LOCKED = 2000 -- ms for which the other replicas wait
-- Purges so much more than necessary that the next report needs none.
local KEPT_PART = 0.875
local mostOfAll, mostOfClient, skipped = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
local sum = tonumber(redis.call('GET', KEYS[2])) or 0
local CLIENTS_WITH_DELIVERED = KEYS[1] .. ':delivered'

local function sessionsOf(client)
  return KEYS[5] .. ':' .. client
end

local function sessionsWithDelivered(client)
  return CLIENTS_WITH_DELIVERED .. ':' .. client
end

-- Records the bytes of a member, or removes it. Returns whether it was removed.
local function put(set, member, bytes, isMember)
  if not isMember then
    return redis.call('ZREM', set, member) == 1
  end
  if redis.call('ZADD', set, bytes, member) == 1 then
    redis.call('PEXPIRE', set, ARGV[4])
  end
end

-- The score of a client is the sum of its own set: an earlier version keeps only the set of all.
local function record(session, bytes, delivered, client)
  local known = redis.call('HGET', KEYS[4], session)
  client = known or client
  local sessions = sessionsOf(client)
  local added = bytes - (tonumber(redis.call('ZSCORE', sessions, session)) or 0)
  sum = sum + bytes - (tonumber(redis.call('ZSCORE', KEYS[1], session)) or 0)
  put(KEYS[1], session, bytes, bytes > 0)
  put(sessions, session, bytes, bytes > 0)
  local wasDelivered =
    put(sessionsWithDelivered(client), session, bytes, bytes > 0 and delivered > 0)
  if bytes <= 0 then
    redis.call('HDEL', KEYS[4], session)
  elseif not known then
    redis.call('HSET', KEYS[4], session, client)
  end
  local ofClient = tonumber(redis.call('ZINCRBY', KEYS[5], added, client))
  if ofClient <= 0 then
    redis.call('ZREM', KEYS[5], client)
  end
  if delivered > 0 and ofClient > 0 then
    redis.call('ZADD', CLIENTS_WITH_DELIVERED, ofClient, client)
  elseif wasDelivered and redis.call('EXISTS', sessionsWithDelivered(client)) == 0 then
    redis.call('ZREM', CLIENTS_WITH_DELIVERED, client)
  else
    redis.call('ZADD', CLIENTS_WITH_DELIVERED, 'XX', ofClient, client)
  end
end

local isSkipped = {}
for i = 6, 5 + skipped do
  isSkipped[ARGV[i]] = true
end

-- Returns the largest session of a set that may have something to purge, and its bytes.
local function largest(set)
  for rank = 0, skipped do
    local found = redis.call('ZREVRANGE', set, rank, rank, 'WITHSCORES')
    if not found[1] or not isSkipped[found[1]] then
      return found[1], tonumber(found[2])
    end
  end
end

-- Returns the session to purge, its bytes, those of its client, and whether only delivered streams.
local function chosen()
  for rank = 0, sum > mostOfAll and skipped or -1 do
    local from = redis.call('ZREVRANGE', CLIENTS_WITH_DELIVERED, rank, rank)[1]
    if not from then
      break
    end
    local session, bytes = largest(sessionsWithDelivered(from))
    if session then
      return session, bytes, 0, true
    end
  end
  for rank = 0, skipped do
    local client = redis.call('ZREVRANGE', KEYS[5], rank, rank, 'WITHSCORES')
    local ofClient = tonumber(client[2]) or 0
    if ofClient <= mostOfClient and sum <= mostOfAll then
      return
    end
    local session, bytes
    if rank == 0 then
      -- A session that is larger than any client is one that only an earlier version has reported.
      session, bytes = largest(KEYS[1])
      if session and bytes > ofClient then
        return session, bytes, 0, false
      end
    end
    if not client[1] then
      return
    end
    session, bytes = largest(sessionsWithDelivered(client[1]))
    if session then
      return session, bytes, ofClient, true
    end
    session, bytes = largest(sessionsOf(client[1]))
    if session then
      return session, bytes, ofClient, false
    end
  end
end

for i = 6 + skipped, #ARGV, 4 do
  record(ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3])
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return {}
end
redis.call('SET', KEYS[2], string.format('%.0f', sum), 'PX', ARGV[4])
for _, key in ipairs({ KEYS[1], KEYS[4], KEYS[5], CLIENTS_WITH_DELIVERED }) do
  redis.call('PEXPIRE', key, ARGV[4])
end

local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[1] then
  return {}
end
local session, bytes, ofClient, onlyDelivered = chosen()
if not session then
  return {}
end
redis.call('SET', KEYS[3], ARGV[1], 'PX', LOCKED)
local excess = 0
if sum > mostOfAll then
  excess = sum - mostOfAll * KEPT_PART
end
if ofClient > mostOfClient then
  excess = math.max(excess, ofClient - mostOfClient * KEPT_PART)
end
-- A session gives at most half of its undelivered events at once: then another may be the largest.
local kept = math.max(onlyDelivered and 0 or bytes / 2, bytes - excess)
return { session, string.format('%.0f', kept), onlyDelivered and 'delivered' or '' }
