-- Adds a new session to an expiry index unless its limit is reached. Expired sessions do not count.
-- The index outlives each of its sessions, but not the gateway.
-- KEYS expiry index
-- ARGV session, limit, timeout (ms), time to live (ms), 1 to remove expired sessions from the index
-- Returns 1, or 0 when the limit is reached.
local time = currentMillis()
if ARGV[5] == '1' then
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', format(time))
end
if redis.call('ZCOUNT', KEYS[1], '(' .. format(time), '+inf') >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], time + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
