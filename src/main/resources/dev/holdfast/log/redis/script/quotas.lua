-- Functions that keep the quotas. They precede the scripts that count bytes.
--
-- The bytes on record count what was reported since the stream was last measured, but not what was
-- purged by age or count. Beyond a quota, the scripts measure first. They then purge a little more
-- than they must, so that they measure rarely.
local KEPT_PART = 0.875
-- The most streams that one command removes.
local REMOVED = 1000

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

-- Measures all streams of the session. While they have too many bytes, removes complete streams, in
-- the order of their expiry, and then purges the oldest events of the largest stream. The newest
-- event of each written stream stays: a message that alone exceeds a quota must be delivered.
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
    if all > target and not written[name] then
      redis.call('UNLINK', streamKey(name))
      redis.call('ZREM', COMPLETE, name)
      redis.call('HSET', KEYS[1], LOST, '1')
      redis.call('HDEL', SIZES, LARGEST .. name, BYTES .. name)
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
    local after = shrink(largest, before, before / 2, written[largest] and 1 or 0)
    redis.call('HSET', SIZES, BYTES .. largest, after)
    all = all - before + after
    candidates[largest] = after < before and after or nil
  end
  redis.call('HSET', SIZES, ALL_BYTES, all)
end

-- Removes the complete streams that have expired.
local function removeExpired(now)
  local names
  repeat
    names = redis.call('ZRANGEBYSCORE', COMPLETE, '-inf', now, 'LIMIT', 0, REMOVED)
    if #names > 0 then
      local fields, streams, bytes = {}, {}, 0
      for i, name in ipairs(names) do
        fields[i] = BYTES .. name
        streams[i] = streamKey(name)
      end
      for _, size in ipairs(redis.call('HMGET', SIZES, unpack(fields))) do
        bytes = bytes + (tonumber(size) or 0)
      end
      for i, name in ipairs(names) do
        fields[#names + i] = LARGEST .. name
      end
      redis.call('UNLINK', unpack(streams))
      redis.call('HDEL', SIZES, unpack(fields))
      redis.call('HINCRBY', SIZES, ALL_BYTES, string.format('%.0f', -bytes))
      redis.call('ZREM', COMPLETE, unpack(names))
    end
  until #names < REMOVED
  redis.call('HSET', SIZES, REMOVED_AT, string.format('%.0f', now))
end

