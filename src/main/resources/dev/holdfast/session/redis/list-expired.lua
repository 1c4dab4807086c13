-- Lists sessions that have expired. Regular calls also keep the index itself from expiring.
-- KEYS expiry index
-- ARGV most sessions to return, time to live (ms)
-- Returns the sessions that expired first.
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', currentMillis(), 'LIMIT', 0, ARGV[1])
