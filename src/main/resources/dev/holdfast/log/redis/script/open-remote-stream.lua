-- Opens a stream in the name of the replica that owns another stream of the session, and puts the
-- request for the new stream into the inbox. Does both or neither. A retry with the same fence
-- succeeds.
-- KEYS session hash, stream, inbox
-- ARGV stream, fence, tail, ids of its requests, most open streams of a session, time to live of
--      the session in ms, stream whose owner gets the request, request, channel prefix, session,
--      most messages in the inbox, most bytes in the inbox, shared stream that keeps the events
--      (or ''), time and tool of the call (or '')
-- Returns 'OK', 'NO_OWNER' (the other stream is not open), 'FULL' (the inbox is full), or as
--      open-stream.lua: 'GONE', 'LIMIT', 'EXISTS'.
local name, fence = ARGV[1], ARGV[2]
local result, recorded = resultWithoutOpening(name, fence, ARGV[13])
if result then
  return result
end
local current = redis.call('HGET', KEYS[1], OWNER .. ARGV[7])
local replica = current and replicaOf(current)
if not replica then
  return 'NO_OWNER'
end
local open = countWithNew(recorded, tonumber(ARGV[5]))
if not open then
  return 'LIMIT'
end
local messages = redis.call('XLEN', KEYS[3])
-- Ignore the count of an expired inbox.
local bytes = messages > 0 and tonumber(redis.call('HGET', KEYS[1], INBOX_BYTES)) or 0
local full = messages >= tonumber(ARGV[11]) or bytes >= tonumber(ARGV[12])
if not full then
  local owner = replica .. ' ' .. fence
  -- The largest write comes first: Redis that is out of memory refuses a script only at its first
  -- write.
  redis.call('XADD', KEYS[3], '*', 's', name, 'd', ARGV[8], 'o', owner)
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
  redis.call('HSET', KEYS[1], OWNER .. name, owner, REQUESTS .. name, ARGV[4],
    LAST .. name, '0-0', CALL .. name, ARGV[14], OPENED, open, INBOX_BYTES, bytes + #ARGV[8])
  if ARGV[13] == '' then
    redis.call('HSET', KEYS[1], TAIL .. name, ARGV[3])
  else
    redis.call('HSET', KEYS[1], KEPT_IN .. name, ARGV[13])
    announceRequests(ARGV[13], ARGV[4], '', ARGV[9], ARGV[10])
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
end
-- Announce a full inbox too: the owner may have missed the earlier announcements.
redis.call('PUBLISH', ARGV[9] .. replica, 'in ' .. ARGV[10])
return full and 'FULL' or 'OK'
