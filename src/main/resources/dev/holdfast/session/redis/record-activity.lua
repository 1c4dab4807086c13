-- Records activity of a session that has not expired. Also starts its idle timeout again, unless
-- the given timeout is 0 or the client has not initialized the session.
-- KEYS session
-- ARGV idle timeout (ms) or 0, time to live (ms), last use (ms since the epoch), address or '',
--      requests, errors
-- Returns the end of the idle timeout (ms since the epoch) and the opener, or nil when the timeout
-- was not started again.
if not is_alive(KEYS[1]) then
  return false
end
local used = redis.call('HGET', KEYS[1], USED)
if not used or tonumber(used) < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], USED, ARGV[3])
end
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], ADDRESS, ARGV[4])
end
if ARGV[5] ~= '0' then
  redis.call('HINCRBY', KEYS[1], REQUESTS, ARGV[5])
end
if ARGV[6] ~= '0' then
  redis.call('HINCRBY', KEYS[1], ERRORS, ARGV[6])
end
if ARGV[1] == '0' or redis.call('HGET', KEYS[1], TRANSPORT) == UNINITIALIZED then
  return false
end
return extend(KEYS[1], ARGV[1], ARGV[2])
