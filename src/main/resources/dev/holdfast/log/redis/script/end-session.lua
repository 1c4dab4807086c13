-- Removes a session with all its streams, and notifies every replica that owns or tails one.
-- The keys of the streams are not in KEYS; they share the slot of the session hash.
-- KEYS session hash, set of complete streams, inbox, set of ended streams
-- ARGV channel prefix, session
-- Returns 'OK'.
local replicas, streams = {}, {}
for name, owner in pairs(openStreams()) do
  streams[streamKey(name)] = true
  replicas[replicaOf(owner)] = true
  local tail = redis.call('HGET', KEYS[1], TAIL .. name)
  if tail then
    replicas[replicaOf(tail)] = true
  end
end
for _, name in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  streams[streamKey(name)] = true
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3], KEYS[4], SIZES)
for key in pairs(streams) do
  redis.call('UNLINK', key)
end
for replica in pairs(replicas) do
  redis.call('PUBLISH', ARGV[1] .. replica, 'end ' .. ARGV[2])
end
return 'OK'
