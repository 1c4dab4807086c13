-- Ends a session if it has expired, and returns what was recorded: to one caller only.
-- KEYS session | ARGV fields
local expires = redis.call('HGET', KEYS[1], 'expires')
if not expires then
  return {}
end
local time = redis.call('TIME')
if tonumber(expires) > time[1] * 1000 + math.floor(time[2] / 1000) then
  return expires
end
local record = redis.call('HMGET', KEYS[1], unpack(ARGV))
redis.call('HDEL', KEYS[1], 'expires', unpack(ARGV))
return record
