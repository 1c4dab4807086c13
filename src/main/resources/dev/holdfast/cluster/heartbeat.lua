-- Records a heartbeat of a replica, by the clock of Redis, and finds silent replicas.
-- KEYS replicas
-- ARGV replica, dead-after (ms), most replicas to return, time to live of the set (ms)
-- Returns the time, the time of the replica's previous heartbeat (nil for none), the replicas that
-- were silent for dead-after, and those of them that have left.
local now = currentMillis()
local previous = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf',
  string.format('(%.0f', now - ARGV[2]), 'LIMIT', 0, ARGV[3])
local left = redis.call('ZRANGEBYSCORE', KEYS[1], 0, 0, 'LIMIT', 0, ARGV[3])
return { string.format('%.0f', now), previous, silent, left }
