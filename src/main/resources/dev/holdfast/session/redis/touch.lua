-- Starts the idle timeout of a session anew, unless it has run out. Returns when it will.
-- KEYS session | ARGV idle timeout, time to live
local expires = redis.call('HGET', KEYS[1], 'expires')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not expires or tonumber(expires) <= now then
  return false
end
local anew = string.format('%.0f', now + ARGV[1])
redis.call('HSET', KEYS[1], 'expires', anew)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return anew
