-- Leaves an open stream without an owner: nothing more is written to it, and no replica claims it.
-- KEYS session hash
-- ARGV stream, owner
-- Returns 'OK'.
if redis.call('HGET', KEYS[1], OWNER .. ARGV[1]) == ARGV[2] then
  redis.call('HSET', KEYS[1], OWNER .. ARGV[1], '- ' .. string.match(ARGV[2], '(%S+)$'))
end
return 'OK'
