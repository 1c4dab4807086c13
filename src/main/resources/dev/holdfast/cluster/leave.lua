-- Records that a replica stops: its score 0 counts as endless silence. Does nothing if other
-- replicas have removed it already.
-- KEYS replicas
-- ARGV replica, dead-after (ms)
-- Returns the number of living replicas.
redis.call('ZADD', KEYS[1], 'XX', 0, ARGV[1])
return redis.call('ZCOUNT', KEYS[1], string.format('%.0f', currentMillis() - ARGV[2]), '+inf')
