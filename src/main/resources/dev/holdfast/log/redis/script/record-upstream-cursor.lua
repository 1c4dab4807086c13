-- Records the id from which the upstream can resume an open stream, when no event has that id.
-- KEYS session hash
-- ARGV stream, owner, number of the last event of the stream, id of the upstream
-- Returns 'OK'.
if redis.call('HGET', KEYS[1], OWNER .. ARGV[1]) == ARGV[2] then
  redis.call('HSET', KEYS[1], UPSTREAM .. ARGV[1], ARGV[3] .. ' ' .. ARGV[4])
end
return 'OK'
