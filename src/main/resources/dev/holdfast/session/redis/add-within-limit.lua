-- Adds a new session to an expiry index unless its limit is reached. Expired sessions do not count.
-- The index outlives each of its sessions, but not the gateway.
-- KEYS expiry index
-- ARGV session, limit, timeout (ms), time to live (ms), 1 to remove expired sessions from the index:
--      some hundred, since Redis serves nobody else meanwhile
-- Returns how many sessions were there before. It adds none when these reach the limit.
local time = currentMillis()
if ARGV[5] == '1' then
  local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', format(time), 'LIMIT', 0, 256)
  if #expired > 0 then
    redis.call('ZREM', KEYS[1], unpack(expired))
  end
end
local count = redis.call('ZCOUNT', KEYS[1], '(' .. format(time), '+inf')
if count < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], time + ARGV[3], ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return count
