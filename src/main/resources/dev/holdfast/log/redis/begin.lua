-- Makes sure that a session is there, whoever creates the rest of its fields.
-- KEYS session | ARGV sessionTtl
redis.call('HSET', KEYS[1], 'log', '1')
if redis.call('PTTL', KEYS[1]) < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return 'OK'
