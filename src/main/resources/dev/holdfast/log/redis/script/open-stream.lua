-- Opens a stream and records its owner. A retry with the same owner succeeds.
-- KEYS session hash, stream
-- ARGV stream, owner, tail (or ''), ids of its requests, most open streams of a session,
--      time to live of the session in ms, shared stream that keeps the events (or '')
-- Returns 'OK', 'GONE' (no such session or shared stream), 'LIMIT' (too many open streams) or
--      'EXISTS' (the name was used before).
local name, owner = ARGV[1], ARGV[2]
local result = resultWithoutOpening(name, string.match(owner, '(%S+)$'), ARGV[7])
if result then
  return result
end
if hasOpen(tonumber(ARGV[5])) then
  return 'LIMIT'
end
redis.call('HSET', KEYS[1], OWNER .. name, owner, REQUESTS .. name, ARGV[4])
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], TAIL .. name, ARGV[3])
end
if ARGV[7] ~= '' then
  redis.call('HSET', KEYS[1], KEPT_IN .. name, ARGV[7])
end
redis.call('HSETNX', KEYS[1], LAST .. name, '0-0')
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return 'OK'
