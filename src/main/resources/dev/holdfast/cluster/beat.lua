-- Notes that a replica is alive, by the clock of Redis, and names those that were silent for long.
-- KEYS replicas | ARGV replica, dead after (ms), most to name, time to live of all
-- Returns the time, that of the replica's beat before (or none), the silent ones, and those of them
-- that have left.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
local silent = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf',
  string.format('(%.0f', now - ARGV[2]), 'LIMIT', 0, ARGV[3])
local left = redis.call('ZRANGEBYSCORE', KEYS[1], 0, 0, 'LIMIT', 0, ARGV[3])
return { string.format('%.0f', now), before, silent, left }
