-- Records the position up to which an open stream was delivered.
-- KEYS session hash
-- ARGV stream, position
-- Returns 'OK'.
if redis.call('HEXISTS', KEYS[1], OWNER .. ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], DELIVERED .. ARGV[1], ARGV[2])
end
return 'OK'
