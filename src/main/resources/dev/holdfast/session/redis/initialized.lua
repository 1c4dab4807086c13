-- Completes the record of a session that was opened and has not expired. Only once.
-- KEYS session | ARGV transport of one that is opened only, idle timeout, time to live, then fields
--      and values
-- Returns when its idle timeout will run out.
local expires = redis.call('HGET', KEYS[1], 'expires')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not expires or tonumber(expires) <= now
    or redis.call('HGET', KEYS[1], 'transport') ~= ARGV[1] then
  return false
end
local anew = string.format('%.0f', now + ARGV[2])
redis.call('HSET', KEYS[1], 'expires', anew, unpack(ARGV, 4))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return anew
