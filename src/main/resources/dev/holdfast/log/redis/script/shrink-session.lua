-- Purges the oldest events of a session until it has at most so many bytes, and measures it.
-- KEYS session hash
-- ARGV most bytes
-- Returns the bytes of the session; 0 when there is no such session.
if redis.call('EXISTS', KEYS[1], SIZES) < 2 then
  return '0'
end
shrinkSession(tonumber(ARGV[1]), {})
return string.format('%.0f', redis.call('HGET', SIZES, ALL_BYTES))
