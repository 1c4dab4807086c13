-- Makes a watcher the one tail of an open stream, and evicts the one of another replica.
-- KEYS session | ARGV name, tail ("replica number"), channel prefix, session
local name, tail = ARGV[1], ARGV[2]
if redis.call('HEXISTS', KEYS[1], 'o:' .. name) == 0 then
  return 'NONE'
end
local former = redis.call('HGET', KEYS[1], 't:' .. name)
redis.call('HSET', KEYS[1], 't:' .. name, tail)
if former then
  local replica, number = string.match(former, '^(%S+) (%d+)$')
  if replica and replica ~= string.match(tail, '^(%S+)') then
    redis.call('PUBLISH', ARGV[3] .. replica, 'evict ' .. ARGV[4] .. ' ' .. name .. ' ' .. number)
  end
end
return 'OK'
