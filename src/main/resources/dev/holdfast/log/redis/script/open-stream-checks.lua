-- Functions shared by the scripts that open a stream. Each script is appended to this file.
-- KEYS session hash, stream

-- Returns the result of the script if the stream cannot be opened or is open already, or nil if it
-- can be opened, and the recorded number of open streams. The key of the set of ended streams is not
-- in KEYS; it shares the same slot.
local function resultWithoutOpening(name, fence, keptIn)
  local state = redis.call('HMGET', KEYS[1], OWNER .. name, OWNER .. keptIn, 'log', OPENED)
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
  return nil, state[4]
end

-- Tells the replica that has the tail of a shared stream which requests its client awaits now, unless
-- it is the given one.
local function announceRequests(shared, requests, own, prefix, session)
  local tail = requests ~= '' and redis.call('HGET', KEYS[1], TAIL .. shared)
  local replica = tail and replicaOf(tail)
  if replica and replica ~= own then
    redis.call('PUBLISH', prefix .. replica, 'ask ' .. session .. ' ' .. shared .. ' ' .. requests)
  end
end

-- Returns the number of open streams including a new one, or nil if that exceeds the limit. The
-- recorded number is an upper bound: when it reaches the limit, the streams are counted again.
local function countWithNew(recorded, limit)
  local open = tonumber(recorded) or limit
  if open >= limit then
    open = 0
    for _ in pairs(fieldsOf('o')[OWNER]) do
      open = open + 1
    end
  end
  return open < limit and open + 1 or nil
end

