-- Names sessions that have expired, by the clock of Redis.
-- Asked regularly as long as there are replicas, so it also keeps the set from expiring itself.
-- KEYS sessions | ARGV most, time to live
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
