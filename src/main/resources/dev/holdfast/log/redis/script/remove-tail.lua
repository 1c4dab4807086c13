-- Removes the record of a tail that has left, unless another tail has replaced it.
-- KEYS session hash
-- ARGV stream, tail ("replica number")
if redis.call('HGET', KEYS[1], TAIL .. ARGV[1]) == ARGV[2] then
  redis.call('HDEL', KEYS[1], TAIL .. ARGV[1])
end
