-- Shortens the time to live of a complete stream that was delivered to its end.
-- KEYS session hash, stream, set of complete streams
-- ARGV stream, time to live in ms
-- Returns 'OK'.
local ttl = tonumber(ARGV[2])
if redis.call('HEXISTS', KEYS[1], OWNER .. ARGV[1]) == 0 and redis.call('PTTL', KEYS[2]) > ttl then
  redis.call('PEXPIRE', KEYS[2], ttl)
  redis.call('ZADD', KEYS[3], 'XX', currentMillis() + ttl, ARGV[1])
end
return 'OK'
