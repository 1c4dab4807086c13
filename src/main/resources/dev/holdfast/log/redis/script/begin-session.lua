-- Creates the session hash if it does not exist. The session store adds its own fields, before or
-- after this.
-- KEYS session hash
-- ARGV time to live of the session in ms, client ('' if unknown)
-- Returns 'OK'.
redis.call('HSET', KEYS[1], 'log', '1')
if ARGV[2] ~= '' then
  redis.call('HSETNX', KEYS[1], CLIENT, ARGV[2])
end
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 'OK'
