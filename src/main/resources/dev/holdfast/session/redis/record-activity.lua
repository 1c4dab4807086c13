-- Records activity of a session that has not expired. Also starts its idle timeout again, unless
-- the given timeout is 0 or the client has not initialized the session.
-- KEYS session
-- ARGV idle timeout (ms) or 0, time to live (ms), last use (ms since the epoch), address or '',
--      requests, errors
-- Returns the end of the idle timeout (ms since the epoch) and the opener, or nil when the timeout
-- was not started again.
local now = currentMillis()
local state = redis.call('HMGET', KEYS[1], EXPIRES, USED, TRANSPORT, OPENER)
local expires = tonumber(state[1] or 0)
if expires <= now then
  return false
end
local idle_timeout, time_to_live = tonumber(ARGV[1]), tonumber(ARGV[2])
local extends = idle_timeout > 0 and state[3] ~= UNINITIALIZED
local changed = {}
if not state[2] or tonumber(state[2]) < tonumber(ARGV[3]) then
  changed = {USED, ARGV[3]}
end
if ARGV[4] ~= '' then
  changed[#changed + 1], changed[#changed + 2] = ADDRESS, ARGV[4]
end
local finish = now + idle_timeout
if extends then
  changed[#changed + 1], changed[#changed + 2] = EXPIRES, format(finish)
end
if #changed > 0 then
  redis.call('HSET', KEYS[1], unpack(changed))
end
if ARGV[5] ~= '0' then
  redis.call('HINCRBY', KEYS[1], REQUESTS, ARGV[5])
end
if ARGV[6] ~= '0' then
  redis.call('HINCRBY', KEYS[1], ERRORS, ARGV[6])
end
if not extends then
  return false
end
-- The key outlives the timeout by three parts, so its own life need not begin again each time. It
-- begins again after one part: then the key outlives the timeout by two at least.
local part = (time_to_live - idle_timeout) / 3
if part <= 0 or math.floor(finish / part) ~= math.floor(expires / part) then
  redis.call('PEXPIRE', KEYS[1], time_to_live)
end
return {format(finish), state[4] or ''}
