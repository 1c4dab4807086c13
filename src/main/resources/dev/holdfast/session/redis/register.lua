-- Gives a new session a place among the sessions, if there is one. Those that have expired, and
-- wait to be swept, have none any more.
-- The set of all outlives each of them, but not the gateway.
-- KEYS sessions | ARGV session, limit, idle timeout, time to live
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local living = redis.call('ZCOUNT', KEYS[1], '(' .. string.format('%.0f', now), '+inf')
if living >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
