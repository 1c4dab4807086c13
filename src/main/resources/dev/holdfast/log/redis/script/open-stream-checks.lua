-- Functions shared by the scripts that open a stream. Each script is appended to this file.
-- KEYS session hash, stream

-- Returns the result of the script if the stream cannot be opened or is open already, or nil if it
-- can be opened. The key of the set of ended streams is not in KEYS; it shares the same slot.
local function resultWithoutOpening(name, fence, keptIn)
  local state = redis.call('HMGET', KEYS[1], OWNER .. name, OWNER .. keptIn, 'log')
  local current = state[1]
  if current and string.match(current, '(%S+)$') == fence then
    return 'OK' -- This is a retry: an earlier attempt has opened the stream.
  end
  if not state[3] and redis.call('EXISTS', KEYS[1]) == 0 or keptIn ~= '' and not state[2] then
    return 'GONE'
  end
  -- A complete stream leaves its events, or its name if a shared stream keeps its events.
  if current or keptIn == '' and redis.call('EXISTS', KEYS[2]) == 1
      or keptIn ~= '' and redis.call('ZSCORE', KEYS[1] .. ':ends', name) then
    return 'EXISTS'
  end
end

-- Returns whether the session has at least this many open streams.
local function hasOpen(limit)
  -- Each stream has at least one field, so only the fields of a large hash are counted.
  if redis.call('HLEN', KEYS[1]) < limit then
    return false
  end
  local open = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if streamOf(field, OWNER) then
      open = open + 1
    end
  end
  return open >= limit
end

