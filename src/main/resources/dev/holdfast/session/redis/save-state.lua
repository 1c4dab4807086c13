-- Saves a value with a session that has not expired.
-- KEYS session
-- ARGV field, value
-- Returns OK, also when there is no such session.
if is_alive(KEYS[1]) then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
return 'OK'
