-- Records a heartbeat of a replica, by the clock of Redis, and looks for lost replicas to adopt.
-- KEYS replicas
-- ARGV replica, dead-after (ms), time to live of the set (ms)
-- Returns the time, the time of the replica's previous heartbeat (nil for none), the numbers of
-- replicas, 1 at most, that next-lost.lua would return: of all, and of those that have left; and the
-- number of living replicas.
local now = currentMillis()
local alive = string.format('%.0f', now - ARGV[2])
local previous = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local lost = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('-%.0f', now), '(' .. alive,
  'LIMIT', 0, 1)
local left = #lost > 0 and redis.call('ZRANGEBYSCORE', KEYS[1], 0, 0, 'LIMIT', 0, 1) or {}
local count = redis.call('ZCOUNT', KEYS[1], alive, '+inf')
return { string.format('%.0f', now), previous, #lost, #left, count }
