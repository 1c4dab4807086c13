-- Records the bytes of sessions, and finds the largest session while all together have too many.
-- Only one replica at a time gets an answer, so that no two purge at once.
-- KEYS sessions by their bytes, sum of all bytes, lock
-- ARGV replica, most bytes of all sessions, time to live of the record in ms, then for each session:
--      session, bytes (0 to remove it)
-- Returns the largest session, its bytes and the sum; an empty list when there is nothing to purge.
local LOCKED = 2000 -- ms for which the other replicas wait
local sum = tonumber(redis.call('GET', KEYS[2])) or 0
for i = 4, #ARGV, 2 do
  local bytes = tonumber(ARGV[i + 1])
  sum = sum + bytes - (tonumber(redis.call('ZSCORE', KEYS[1], ARGV[i])) or 0)
  if bytes > 0 then
    redis.call('ZADD', KEYS[1], bytes, ARGV[i])
  else
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('DEL', KEYS[2])
  return {}
end
redis.call('SET', KEYS[2], string.format('%.0f', sum), 'PX', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if sum <= tonumber(ARGV[2]) then
  return {}
end
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[1] then
  return {}
end
redis.call('SET', KEYS[3], ARGV[1], 'PX', LOCKED)
local largest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
return { largest[1], string.format('%.0f', largest[2]), string.format('%.0f', sum) }
