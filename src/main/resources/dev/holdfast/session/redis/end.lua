-- Ends a session: removes its fields, but not those of its log in the same hash.
-- KEYS session
-- ARGV fields
-- Returns the number of removed fields and the opener.
local opener = opener_of(KEYS[1])
return {redis.call('HDEL', KEYS[1], EXPIRES, unpack(ARGV)), opener}
