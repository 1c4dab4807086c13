-- Removes a session with all its streams, and tells the replicas that own or tail one.
-- The streams' keys are not in KEYS, but share their slot.
-- KEYS session, streams, inbox, ends | ARGV channel prefix, session
local replicas, removed = {}, {}
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  local kind, name = string.match(fields[i], '^([ot]):(.+)$')
  if kind then
    removed[KEYS[1] .. ':e:' .. name] = true
    replicas[string.match(fields[i + 1], '^(%S+)')] = true
  end
end
for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  removed[KEYS[1] .. ':e:' .. name] = true
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
for key in pairs(removed) do
  redis.call('UNLINK', key)
end
for replica in pairs(replicas) do
  redis.call('PUBLISH', ARGV[1] .. replica, 'end ' .. ARGV[2])
end
return 'OK'
