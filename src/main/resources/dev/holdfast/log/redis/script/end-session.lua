-- Ends a session: removes its open streams and first complete ones, and notifies every replica that
-- owns or tails a stream. The reports of a session that has ended remove the other streams: see
-- report-streams.lua. The keys of the streams are not in KEYS; they share the slot of the hash.
-- KEYS session hash, set of complete streams, inbox, set of ended streams
-- ARGV channel prefix, session
-- Returns 'OK'.
local open, names, replicas = fieldsOf('ot'), {}, {}
for name, owner in pairs(open[OWNER]) do
  names[#names + 1] = name
  replicas[replicaOf(owner)] = true
end
for _, tail in pairs(open[TAIL]) do
  replicas[replicaOf(tail)] = true
end
unlink(names)
redis.call('UNLINK', KEYS[1], KEYS[3], KEYS[4], SIZES, ORDER)
if redis.call('EXISTS', KEYS[2]) == 1 then
  -- An earlier session with this id may have left streams, which expire by themselves.
  redis.call('UNLINK', GARBAGE)
  redis.call('RENAME', KEYS[2], GARBAGE)
end
removeGarbage()
for replica in pairs(replicas) do
  redis.call('PUBLISH', ARGV[1] .. replica, 'end ' .. ARGV[2])
end
return 'OK'
