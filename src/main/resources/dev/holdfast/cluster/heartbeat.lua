-- Records a heartbeat of a replica, by the clock of Redis, and looks for lost replicas to adopt.
-- KEYS replicas
-- ARGV replica, dead-after (ms), time to live of the set (ms)
-- Returns the time, the time of the replica's previous heartbeat (nil for none), and the numbers of
-- replicas, 1 at most, that next-lost.lua would return: of all, and of those that have left.
local now = currentMillis()
local previous = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local lost = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('-%.0f', now),
  string.format('(%.0f', now - ARGV[2]), 'LIMIT', 0, 1)
local left = redis.call('ZRANGEBYSCORE', KEYS[1], 0, 0, 'LIMIT', 0, 1)
return { string.format('%.0f', now), previous, #lost, #left }
