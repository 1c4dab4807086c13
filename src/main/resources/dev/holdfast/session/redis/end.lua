-- Ends a session: removes what is recorded of it, but not what its log keeps in the same hash.
-- KEYS session | ARGV fields
return redis.call('HDEL', KEYS[1], 'expires', unpack(ARGV))
