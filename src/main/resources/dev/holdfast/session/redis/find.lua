-- Reads a session that has not expired.
-- KEYS session | ARGV fields
local expires = redis.call('HGET', KEYS[1], 'expires')
local time = redis.call('TIME')
if not expires or tonumber(expires) <= time[1] * 1000 + math.floor(time[2] / 1000) then
  return false
end
return redis.call('HMGET', KEYS[1], unpack(ARGV))
