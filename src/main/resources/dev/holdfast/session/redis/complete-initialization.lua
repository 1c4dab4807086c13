-- Completes the record of a session whose client has initialized it. Works once, and only before
-- the session expires.
-- KEYS session
-- ARGV idle timeout (ms), time to live (ms), then fields and values
-- Returns the end of the idle timeout (ms since the epoch) and the opener, or nil when nothing was
-- recorded.
if not is_alive(KEYS[1]) or redis.call('HGET', KEYS[1], TRANSPORT) ~= UNINITIALIZED then
  return false
end
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
return extend(KEYS[1], ARGV[1], ARGV[2])
