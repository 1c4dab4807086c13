-- Lets a complete stream expire soon.
-- KEYS session, stream, streams | ARGV name, completedTtl
local ttl = tonumber(ARGV[2])
if redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[1]) == 0 and redis.call('PTTL', KEYS[2]) > ttl then
  redis.call('PEXPIRE', KEYS[2], ttl)
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[3], 'XX', time[1] * 1000 + math.floor(time[2] / 1000) + ttl, ARGV[1])
end
return 'OK'
