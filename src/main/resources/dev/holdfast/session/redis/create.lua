-- Records a new session.
-- KEYS session
-- ARGV timeout (ms), time to live (ms), then fields and values
-- Returns the end of the timeout (ms since the epoch) and the opener.
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return extend(KEYS[1], ARGV[1], ARGV[2])
