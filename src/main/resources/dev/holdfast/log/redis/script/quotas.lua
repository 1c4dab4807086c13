-- Functions that keep the quotas. They precede the scripts that append events.
--
-- The bytes on record are an upper bound: they count what was appended since the stream was last
-- measured, but not what was purged by age or count. Beyond a quota, the scripts measure first. They
-- then purge a little more than they must, so that they measure rarely.
local EVENT_BYTES = 64 -- what Redis needs for an event besides its payload
local KEPT_PART = 0.875

-- Returns the memory of a stream.
local function measure(name)
  return redis.call('MEMORY', 'USAGE', streamKey(name), 'SAMPLES', 0) or 0
end

-- Purges the oldest events of a stream until it has at most so many bytes, but keeps at least
-- some of the newest.
local function shrink(name, size, most, least)
  local events = redis.call('XLEN', streamKey(name))
  while size > most and events > least do
    events = math.max(least, math.floor(events * math.min(most / size, 0.9)))
    redis.call('XTRIM', streamKey(name), 'MAXLEN', events)
    size = measure(name)
  end
  return size
end

-- Removes the sizes of a stream. Returns its bytes.
local function forgetSizes(name)
  local bytes = redis.call('HGET', SIZES, BYTES .. name)
  redis.call('HDEL', SIZES, LARGEST .. name, BYTES .. name)
  return tonumber(bytes) or 0
end

-- Measures all streams of the session. While they have too many bytes, removes complete streams, in
-- the order of their expiry, and then purges the oldest events of the largest open stream. The
-- newest event of the written stream stays: a message that alone exceeds a quota must be delivered.
local function shrinkSession(most, written)
  local complete = redis.call('ZRANGE', COMPLETE, 0, -1)
  local sizes, all = {}, 0
  local function add(name)
    sizes[name] = measure(name)
    all = all + sizes[name]
  end
  for _, name in ipairs(complete) do
    add(name)
  end
  for name in pairs(openStreams()) do
    add(name)
  end
  local target = all > most and most * KEPT_PART or all
  for _, name in ipairs(complete) do
    if all > target then
      redis.call('UNLINK', streamKey(name))
      redis.call('ZREM', COMPLETE, name)
      redis.call('HSET', KEYS[1], LOST, '1')
      forgetSizes(name)
      all = all - sizes[name]
      sizes[name] = nil
    end
  end
  local candidates = {}
  for name, size in pairs(sizes) do
    redis.call('HSET', SIZES, BYTES .. name, size)
    candidates[name] = size
  end
  while all > target and next(candidates) do
    local largest
    for name, size in pairs(candidates) do
      largest = (not largest or size > candidates[largest]) and name or largest
    end
    local before = candidates[largest]
    local after = shrink(largest, before, before / 2, largest == written and 1 or 0)
    redis.call('HSET', SIZES, BYTES .. largest, after)
    all = all - before + after
    candidates[largest] = after < before and after or nil
  end
  redis.call('HSET', SIZES, ALL_BYTES, all)
end

-- Adds a batch to the sizes of a stream, and purges the oldest events beyond the quotas. The largest
-- event of a stream that an older version began stays unknown.
local function keepQuotas(name, isNew, largest, added, mostOfStream, mostOfSession, timeToLive)
  local known = redis.call('HMGET', SIZES, LARGEST .. name, BYTES .. name, ALL_BYTES)
  local bytes = (tonumber(known[2]) or 0) + added
  local all = (tonumber(known[3]) or 0) + added
  if bytes > mostOfStream then
    local size = measure(name)
    size = size > mostOfStream and shrink(name, size, mostOfStream * KEPT_PART, 1) or size
    all = all - bytes + size
    bytes = size
  end
  redis.call('HSET', SIZES, BYTES .. name, bytes, ALL_BYTES, all)
  if (known[1] or isNew) and largest > (tonumber(known[1]) or 0) then
    redis.call('HSET', SIZES, LARGEST .. name, largest)
  end
  redis.call('PEXPIRE', SIZES, timeToLive)
  if all > mostOfSession then
    shrinkSession(mostOfSession, name)
  end
end

-- Forgets the complete streams that have expired.
local function forgetExpired(now)
  for _, name in ipairs(redis.call('ZRANGEBYSCORE', COMPLETE, '-inf', now)) do
    redis.call('HINCRBY', SIZES, ALL_BYTES, string.format('%.0f', -forgetSizes(name)))
  end
  redis.call('ZREMRANGEBYSCORE', COMPLETE, '-inf', now)
end

