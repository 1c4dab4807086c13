-- Keeps something with a session that has not expired.
-- KEYS session | ARGV field, value
local expires = redis.call('HGET', KEYS[1], 'expires')
local time = redis.call('TIME')
if expires and tonumber(expires) > time[1] * 1000 + math.floor(time[2] / 1000) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 'OK'
