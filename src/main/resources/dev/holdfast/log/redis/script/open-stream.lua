-- Opens a stream and records its owner. A retry with the same owner succeeds.
-- KEYS session hash, stream
-- ARGV stream, owner, tail (or ''), ids of its requests, most open streams of a session, shared
--      stream that keeps the events (or ''), channel prefix, session, time and tool of the call
--      (or '')
-- Returns 'OK', 'GONE' (no such session or shared stream), 'LIMIT' (too many open streams) or
--      'EXISTS' (the name was used before).
local name, owner = ARGV[1], ARGV[2]
local result, recorded = resultWithoutOpening(name, string.match(owner, '(%S+)$'), ARGV[6])
if result then
  return result
end
local open = countWithNew(recorded, tonumber(ARGV[5]))
if not open then
  return 'LIMIT'
end
local fields =
  { OWNER .. name, owner, REQUESTS .. name, ARGV[4], LAST .. name, '0-0', OPENED, open }
if ARGV[3] ~= '' then
  table.insert(fields, TAIL .. name)
  table.insert(fields, ARGV[3])
end
if ARGV[6] ~= '' then
  table.insert(fields, KEPT_IN .. name)
  table.insert(fields, ARGV[6])
end
if ARGV[9] ~= '' then
  table.insert(fields, CALL .. name)
  table.insert(fields, ARGV[9])
end
redis.call('HSET', KEYS[1], unpack(fields))
if ARGV[6] ~= '' then
  announceRequests(ARGV[6], ARGV[4], replicaOf(owner), ARGV[7], ARGV[8])
end
return 'OK'
