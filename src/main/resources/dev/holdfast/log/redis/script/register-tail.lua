-- Makes a watcher the one tail of an open stream, and evicts the tail of another replica.
-- KEYS session hash
-- ARGV stream, tail ("replica number"), channel prefix, session, what the reader has ('' if that is
--      the position on record)
-- Returns the ids of the requests that the stream answers, or that the streams answer whose events it
-- keeps; '' if it is not open.
local name, tail = ARGV[1], ARGV[2]
if redis.call('HEXISTS', KEYS[1], OWNER .. name) == 0 then
  return ''
end
local previous = redis.call('HGET', KEYS[1], TAIL .. name)
redis.call('HSET', KEYS[1], TAIL .. name, tail)
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], DELIVERED .. name, ARGV[5])
end
if previous then
  local replica, number = string.match(previous, '^(%S+) (%d+)$')
  if replica and replica ~= replicaOf(tail) then
    redis.call('PUBLISH', ARGV[3] .. replica, 'evict ' .. ARGV[4] .. ' ' .. name .. ' ' .. number)
  end
end
local requests = redis.call('HGET', KEYS[1], REQUESTS .. name) or ''
if redis.call('HGET', KEYS[1], OWNER .. name) ~= '-' then
  return requests
end
local all = {}
for other in pairs(openStreams()) do
  if redis.call('HGET', KEYS[1], KEPT_IN .. other) == name then
    local awaited = redis.call('HGET', KEYS[1], REQUESTS .. other)
    if awaited and awaited ~= '' then
      all[#all + 1] = awaited
    end
  end
end
return table.concat(all, ',')
