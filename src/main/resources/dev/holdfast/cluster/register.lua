-- Adds a replica to the set of replicas if it is missing: before its first heartbeat, or after
-- Redis lost the set.
-- KEYS replicas
-- ARGV replica, time to live of the set (ms)
-- Returns 1 if it was missing, 0 otherwise.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[1], currentMillis(), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
