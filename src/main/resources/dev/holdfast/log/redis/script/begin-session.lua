-- Creates the session hash if it does not exist. The session store adds its own fields, before or
-- after this.
-- KEYS session hash
-- ARGV time to live of the session in ms
-- Returns 'OK'.
redis.call('HSET', KEYS[1], 'log', '1')
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 'OK'
