-- Puts a replica on the list of all if it is not there: before its first beat, or when Redis has lost it.
-- KEYS replicas | ARGV replica, time to live of all
-- Returns 1 if it was not there.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
