-- Ends a session: removes its fields, but not those of its log in the same hash.
-- KEYS session
-- ARGV fields
-- Returns the number of removed fields.
return redis.call('HDEL', KEYS[1], EXPIRES, unpack(ARGV))
