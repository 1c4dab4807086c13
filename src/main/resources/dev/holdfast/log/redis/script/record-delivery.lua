-- Records the position up to which an open stream was delivered, and tells its writers on other
-- replicas, which may wait for it.
-- KEYS session hash
-- ARGV stream, position, this replica, channel prefix, session
-- Returns 'OK'.
local name, position = ARGV[1], ARGV[2]
local owner = redis.call('HGET', KEYS[1], OWNER .. name)
if not owner then
  return 'OK'
end
redis.call('HSET', KEYS[1], DELIVERED .. name, position)
local writers = { [replicaOf(owner)] = true }
if owner == '-' then
  local open = fieldsOf('oi')
  for other, shared in pairs(open[KEPT_IN]) do
    if shared == name and open[OWNER][other] then
      writers[replicaOf(open[OWNER][other])] = true
    end
  end
end
for writer in pairs(writers) do
  if writer ~= '-' and writer ~= ARGV[3] then
    redis.call('PUBLISH', ARGV[4] .. writer, 'read ' .. ARGV[5] .. ' ' .. name .. ' ' .. position)
  end
end
return 'OK'
