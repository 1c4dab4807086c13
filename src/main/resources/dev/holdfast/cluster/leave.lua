-- Notes that a replica stops: from now on it counts as silent for ever. Unless others have forgotten it.
-- KEYS replicas | ARGV replica, dead after (ms)
-- Returns how many others are alive.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], 'XX', 0, ARGV[1])
return redis.call('ZCOUNT', KEYS[1], string.format('%.0f', now - ARGV[2]), '+inf')
