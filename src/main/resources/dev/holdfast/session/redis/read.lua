-- Reads fields of a session that has not expired.
-- KEYS session
-- ARGV fields
-- Returns the values, or nil when there is no such session.
if not is_alive(KEYS[1]) then
  return false
end
return redis.call('HMGET', KEYS[1], unpack(ARGV))
