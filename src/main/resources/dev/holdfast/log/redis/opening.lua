-- What the scripts that open a stream have in common; stands before them.
-- KEYS session, stream

-- What there is to say about a stream already; nothing if it can be opened. The key of the set of
-- ends is not in KEYS, but shares their slot.
local function found(name, fence, into)
  if redis.call('EXISTS', KEYS[1]) == 0 then
    return 'GONE'
  end
  local current = redis.call('HGET', KEYS[1], 'o:' .. name)
  if current and string.match(current, '(%S+)$') == fence then
    return 'OK' -- a retry finds itself
  end
  if into ~= '' and redis.call('HEXISTS', KEYS[1], 'o:' .. into) == 0 then
    return 'GONE'
  end
  -- One that is complete has left its events, or its name if they were kept in another.
  if current or redis.call('EXISTS', KEYS[2]) == 1
      or redis.call('ZSCORE', KEYS[1] .. ':ends', name) then
    return 'EXISTS'
  end
end

-- Whether the session has so many open streams.
local function hasOpen(limit)
  -- Each has at least one field, so only a large hash needs to be counted.
  if redis.call('HLEN', KEYS[1]) < limit then
    return false
  end
  local open = 0
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    if string.sub(field, 1, 2) == 'o:' then
      open = open + 1
    end
  end
  return open >= limit
end
