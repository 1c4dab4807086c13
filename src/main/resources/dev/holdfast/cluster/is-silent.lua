-- Checks whether a replica is still silent. It may have come back since it was found silent.
-- KEYS replicas
-- ARGV replica, dead-after (ms), "forget" to remove a silent replica
-- Returns 1 if the replica is silent, 0 otherwise.
local now = currentMillis()
local last = redis.call('ZSCORE', KEYS[1], ARGV[1])
if last and tonumber(last) >= now - ARGV[2] then
  return 0
end
if ARGV[3] == 'forget' then
  redis.call('ZREM', KEYS[1], ARGV[1])
end
return 1
