-- Notes up to where an open stream was delivered.
-- KEYS session | ARGV name, position
if redis.call('HEXISTS', KEYS[1], 'o:' .. ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'd:' .. ARGV[1], ARGV[2])
end
return 'OK'
