-- Notes what happened in a session, unless it has expired. Starts its idle timeout anew, unless
-- that is 0 or the session is only being opened, and then returns when it will run out.
-- KEYS session | ARGV idle timeout, time to live, last use, address, requests, errors
local expires = redis.call('HGET', KEYS[1], 'expires')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not expires or tonumber(expires) <= now then
  return false
end
local used = redis.call('HGET', KEYS[1], 'used')
if not used or tonumber(used) < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'used', ARGV[3])
end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'address', ARGV[4])
end
if ARGV[5] ~= '0' then
  redis.call('HINCRBY', KEYS[1], 'requests', ARGV[5])
end
if ARGV[6] ~= '0' then
  redis.call('HINCRBY', KEYS[1], 'errors', ARGV[6])
end
if ARGV[1] == '0' or redis.call('HGET', KEYS[1], 'transport') == 'sse-opening' then
  return false
end
local anew = string.format('%.0f', now + ARGV[1])
redis.call('HSET', KEYS[1], 'expires', anew)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return anew
