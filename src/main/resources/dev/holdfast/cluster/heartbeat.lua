-- Records a heartbeat of a replica, by the clock of Redis, and finds silent replicas.
-- KEYS replicas
-- ARGV replica, dead-after (ms), most replicas to return, time to live of the set (ms)
-- Returns the time, the time of the replica's previous heartbeat (nil for none), the replicas that
-- were silent for dead-after, those of them that have left, and the number of all others.
local now = currentMillis()
local alive = string.format('%.0f', now - ARGV[2])
local previous = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. alive, 'WITHSCORES',
  'LIMIT', 0, ARGV[3])
local silent, left = {}, {}
for i = 1, #found, 2 do
  silent[#silent + 1] = found[i]
  if tonumber(found[i + 1]) == 0 then
    left[#left + 1] = found[i]
  end
end
local count = redis.call('ZCOUNT', KEYS[1], alive, '+inf')
return { string.format('%.0f', now), previous, silent, left, count }
