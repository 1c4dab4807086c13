-- Reads fields of a session that has not expired.
-- KEYS session
-- ARGV fields
-- Returns the values, or nil when there is no such session. The time when it expires follows.
local names = {unpack(ARGV)}
names[#names + 1] = EXPIRES
local values = redis.call('HMGET', KEYS[1], unpack(names))
local expires = values[#names]
if not expires or tonumber(expires) <= currentMillis() then
  return false
end
return values
