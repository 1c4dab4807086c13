-- Makes a watcher the one tail of a stream, and evicts the tail of another replica.
-- KEYS session hash
-- ARGV stream, tail ("replica number"), channel prefix, session, what the reader has ('' if that is
--      the position on record)
-- Returns the ids of the requests that the stream answers; '' if it is not open, '-' for a shared one.

-- Moves a complete stream behind all that give way. Its report does so if it is not in the order yet.
local function keepWhileFollowed(stream)
  local score = tonumber(redis.call('ZSCORE', ORDER, stream) or FOLLOWED)
  if score < STAGE then
    loadTotals({})
    delivered = delivered - bytesOf(stream)
    savedTotals(false, '')
  end
  if score < FOLLOWED then
    redis.call('ZADD', ORDER, scoreText(FOLLOWED + score % STAGE), stream)
  end
end

local name, tail = ARGV[1], ARGV[2]
local owner = redis.call('HGET', KEYS[1], OWNER .. name)
if not owner and redis.call('EXISTS', KEYS[1], streamKey(name)) < 2 then
  return ''
end
local previous = redis.call('HGET', KEYS[1], TAIL .. name)
redis.call('HSET', KEYS[1], TAIL .. name, tail)
if not owner then
  keepWhileFollowed(name)
elseif ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], DELIVERED .. name, ARGV[5])
end
if previous then
  local replica, number = string.match(previous, '^(%S+) (%d+)$')
  if replica and replica ~= replicaOf(tail) then
    redis.call('PUBLISH', ARGV[3] .. replica, 'evict ' .. ARGV[4] .. ' ' .. name .. ' ' .. number)
  end
end
if not owner then
  return ''
end
return owner == '-' and owner or redis.call('HGET', KEYS[1], REQUESTS .. name) or ''
