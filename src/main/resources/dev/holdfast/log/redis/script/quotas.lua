-- Functions that keep the quotas, and that trim streams and extend times to live only now and then.
-- They precede the scripts that append events.
--
-- The bytes on record are an upper bound: they count what was appended since the stream was last
-- measured, but not what was purged by age or count. Beyond a quota, the scripts measure first. They
-- then purge a little more than they must, so that they measure rarely.
local EVENT_BYTES = 64 -- what Redis needs for an event besides its payload
local KEPT_PART = 0.875
-- A burst of so many events is trimmed, even if the stream was trimmed just before.
local TRIMMED_EVENTS = 100
-- The most events that one command forgets.
local FORGOTTEN = 1000

-- Returns the ms for which an extended time to live is not extended again. Keys that are extended
-- only then live longer by that time.
local function extensionInterval(timeToLive, sessionTimeToLive)
  return math.ceil(math.min(5000, timeToLive / 8, sessionTimeToLive / 8))
end

-- Returns whether an append is the first of its stream in an interval, so that it trims and extends.
-- The times are those of the newest event, or 0 for none, and of the append, by the clock of Redis.
local function isDue(before, now, interval)
  return math.floor(before / interval) ~= math.floor(now / interval)
end

-- Trims the events of a stream beyond a number or an age, when there is something to trim.
local function trim(key, before, after, most, due, oldest)
  local isBurst = math.floor(before / TRIMMED_EVENTS) ~= math.floor(after / TRIMMED_EVENTS)
  if after > most and (due or isBurst) then
    redis.call('XTRIM', key, 'MAXLEN', most)
  end
  if before > 0 and due then
    redis.call('XTRIM', key, 'MINID', '~', string.format('%.0f', oldest))
  end
end

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
  -- The set of complete streams may be gone. Its next member brings back its time to live.
  redis.call('HSET', SIZES, ALL_BYTES, all, FORGOTTEN_AT, 0)
end

-- Adds a batch to the sizes of a stream, and purges the oldest events beyond the quotas. The largest
-- event of a stream that an older version began stays unknown. Returns when expired streams were
-- last forgotten, in ms since the epoch, or 0.
local function keepQuotas(name, isNew, largest, added, mostOfStream, mostOfSession)
  local known = redis.call('HMGET', SIZES, LARGEST .. name, BYTES .. name, ALL_BYTES, FORGOTTEN_AT)
  local bytes = (tonumber(known[2]) or 0) + added
  local all = (tonumber(known[3]) or 0) + added
  if bytes > mostOfStream then
    local size = measure(name)
    size = size > mostOfStream and shrink(name, size, mostOfStream * KEPT_PART, 1) or size
    all = all - bytes + size
    bytes = size
  end
  if (known[1] or isNew) and largest > (tonumber(known[1]) or 0) then
    redis.call('HSET', SIZES, BYTES .. name, bytes, ALL_BYTES, all, LARGEST .. name, largest)
  else
    redis.call('HSET', SIZES, BYTES .. name, bytes, ALL_BYTES, all)
  end
  if all > mostOfSession then
    shrinkSession(mostOfSession, name)
    return 0
  end
  return tonumber(known[4]) or 0
end

-- Forgets the complete streams that have expired.
local function forgetExpired(now)
  local names
  repeat
    names = redis.call('ZRANGEBYSCORE', COMPLETE, '-inf', now, 'LIMIT', 0, FORGOTTEN)
    if #names > 0 then
      local fields, bytes = {}, 0
      for i, name in ipairs(names) do
        fields[i] = BYTES .. name
      end
      for _, size in ipairs(redis.call('HMGET', SIZES, unpack(fields))) do
        bytes = bytes + (tonumber(size) or 0)
      end
      for i, name in ipairs(names) do
        fields[#names + i] = LARGEST .. name
      end
      redis.call('HDEL', SIZES, unpack(fields))
      redis.call('HINCRBY', SIZES, ALL_BYTES, string.format('%.0f', -bytes))
      redis.call('ZREM', COMPLETE, unpack(names))
    end
  until #names < FORGOTTEN
  redis.call('HSET', SIZES, FORGOTTEN_AT, string.format('%.0f', now))
end

