-- Ends a session if it has expired. Only one caller gets its record.
-- KEYS session
-- ARGV fields
-- Returns the values of the fields; an empty list when there is no such session; the expiry time
-- (ms since the epoch) of a session that has not expired.
local expires = redis.call('HGET', KEYS[1], EXPIRES)
if not expires then
  return {}
end
if is_alive(KEYS[1]) then
  return expires
end
local record = redis.call('HMGET', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[1], EXPIRES, unpack(ARGV))
return record
