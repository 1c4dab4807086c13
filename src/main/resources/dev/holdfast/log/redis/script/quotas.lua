-- Functions that keep the quotas. They precede the scripts that count bytes.
--
-- The bytes on record count what was reported, but not what was purged by age or count. So a script
-- corrects the record of a stream before it purges undelivered events. It purges a little more than
-- it must, so that it does this rarely.
local KEPT_PART = 0.875

-- What one run may still do: remove streams and events, read events that it removes, and measure
-- streams. Measuring takes as long as reading one word of each event.
local streamsLeft, itemsLeft, bytesLeft, measuredLeft = MOST_STREAMS, MOST, 1048576, 4096
-- What Redis needs for an event besides its payload, as the writers count it.
local EVENT_BYTES = 64

-- Complete streams give way in the order of their scores: a time, plus a multiple of STAGE. First
-- those that were delivered to their end; then undelivered ones, of which all but the last event goes;
-- then the last events, which are results. Those that a client still reads stay until it has them, or
-- has left. STAGE exceeds every time, and leaves room for fractions.
local STAGE = 2 ^ 42
local NOTIFICATIONS, RESULTS, FOLLOWED = STAGE, 2 * STAGE, 3 * STAGE
-- A client that was cut off may come back to an undelivered stream that completed less than so many
-- ms ago.
local PROTECTED = 60000

local all, delivered, purged = 0, 0, false
-- What is on record of both.
local allBefore, deliveredBefore = 0, 0

local function text(number)
  return string.format('%.0f', number)
end

local function scoreText(score)
  return string.format('%.17g', score)
end

-- Reads the bytes of the session, and of its delivered streams. Returns the values of further fields.
local function loadTotals(fields)
  local found = redis.call('HMGET', SIZES, ALL_BYTES, DELIVERED_BYTES, unpack(fields))
  all, delivered = tonumber(found[1]) or 0, tonumber(found[2]) or 0
  allBefore, deliveredBefore = all, delivered
  return { unpack(found, 3) }
end

-- Writes what has changed since loadTotals, and returns the result of a script.
local function savedTotals(more, client)
  all, delivered = math.max(0, all), math.max(0, delivered)
  if delivered > 0 and delivered ~= deliveredBefore then
    redis.call('HSET', SIZES, ALL_BYTES, text(all), DELIVERED_BYTES, text(delivered))
  elseif all ~= allBefore then
    redis.call('HSET', SIZES, ALL_BYTES, text(all))
  end
  if delivered == 0 and deliveredBefore > 0 then
    redis.call('HDEL', SIZES, DELIVERED_BYTES)
  end
  return table.concat({ text(all), text(delivered), more and '1' or '0', client }, ' ')
end

local function hasPurged()
  return purged
end

-- Returns whether the session still has too many bytes, and the run may continue.
local function mustPurge(target)
  return all > target and streamsLeft > 0 and itemsLeft > 0 and bytesLeft > 0
end

-- Removes complete streams with their records.
local function removeStreams(names)
  if #names == 0 then
    return
  end
  local streams, bytes, largest, tails = {}, {}, {}, {}
  for i, name in ipairs(names) do
    streams[i], bytes[i], largest[i] = streamKey(name), BYTES .. name, LARGEST .. name
    tails[i] = TAIL .. name
  end
  local scores = redis.call('ZMSCORE', ORDER, unpack(names))
  for i, size in ipairs(redis.call('HMGET', SIZES, unpack(bytes))) do
    size = tonumber(size or 0)
    all = all - size
    if scores[i] and tonumber(scores[i]) < STAGE then
      delivered = delivered - size
    end
  end
  redis.call('UNLINK', unpack(streams))
  redis.call('HDEL', SIZES, unpack(bytes))
  redis.call('HDEL', SIZES, unpack(largest))
  redis.call('HDEL', KEYS[1], unpack(tails))
  redis.call('ZREM', COMPLETE, unpack(names))
  redis.call('ZREM', ORDER, unpack(names))
  streamsLeft = streamsLeft - #names
  purged = true
end

-- Removes expired complete streams. Returns whether more are left.
local function removeExpired(now)
  local names = redis.call('ZRANGEBYSCORE', COMPLETE, '-inf', now, 'LIMIT', 0, streamsLeft)
  removeStreams(names)
  return streamsLeft == 0
end

-- Removes streams, in the given order, until the session is small enough.
local function removeWhileTooLarge(names, target, kept)
  local bytes, chosen, sum = {}, {}, all
  for i, name in ipairs(names) do
    bytes[i] = BYTES .. name
  end
  bytes = #names > 0 and redis.call('HMGET', SIZES, unpack(bytes)) or {}
  for i, name in ipairs(names) do
    if sum > target and not kept[name] then
      chosen[#chosen + 1] = name
      sum = sum - tonumber(bytes[i] or 0)
    end
  end
  if #chosen > 0 then
    redis.call('HSET', KEYS[1], LOST, '1')
    removeStreams(chosen)
  end
end

-- Returns complete streams of a stage, the oldest first, that completed before a time.
local function inStage(stage, before)
  local most = before and '(' .. text(stage + before) or '(' .. text(stage + STAGE)
  return redis.call('ZRANGEBYSCORE', ORDER, text(stage), most, 'LIMIT', 0, streamsLeft)
end

local function removeStage(stage, before, target, kept)
  if mustPurge(target) then
    removeWhileTooLarge(inStage(stage, before), target, kept)
  end
end

local function setBytes(name, known, bytes)
  all = all - known + bytes
  redis.call('HSET', SIZES, BYTES .. name, text(bytes))
end

local function bytesOf(name)
  return tonumber(redis.call('HGET', SIZES, BYTES .. name) or 0)
end

-- Removes the oldest events of a stream to free some bytes. Keeps some of the newest. Reads one event
-- at a time, since payloads are large. Returns the number of events that are left.
local function trimOldest(name, wanted, least)
  local key = streamKey(name)
  local length = redis.call('XLEN', key)
  local count, freed, from = 0, 0, '-'
  while count < length - least and freed < wanted and itemsLeft > 0 and bytesLeft > 0 do
    local entry = redis.call('XRANGE', key, from, '+', 'COUNT', 1)[1]
    local size = EVENT_BYTES
    for i = 2, #entry[2], 2 do
      size = size + #entry[2][i]
    end
    from, count, freed = '(' .. entry[1], count + 1, freed + size
    itemsLeft, bytesLeft = itemsLeft - 1, bytesLeft - size
  end
  if count > 0 then
    local known = bytesOf(name)
    redis.call('XTRIM', key, 'MAXLEN', text(length - count))
    setBytes(name, known, count == length and 0 or math.max(0, known - freed))
    purged = true
  end
  return length - count
end

-- Corrects the record of a stream, from which age or count may have purged events. Returns its bytes.
local function measured(name)
  local known, largest = unpack(redis.call('HMGET', SIZES, BYTES .. name, LARGEST .. name))
  local bytes = tonumber(known or 0)
  local length = redis.call('XLEN', streamKey(name))
  if largest then
    bytes = math.min(bytes, length * (tonumber(largest) + EVENT_BYTES))
  end
  if length <= measuredLeft then
    measuredLeft = measuredLeft - length
    local memory = redis.call('MEMORY', 'USAGE', streamKey(name), 'SAMPLES', 0)
    bytes = math.min(bytes, memory or 0)
  end
  if known and bytes < tonumber(known) then
    setBytes(name, tonumber(known), bytes)
  end
  return bytes
end

local function numberOf(position)
  return tonumber(string.match(position or '', '%-(%d+)$')) or 0
end

-- Returns the most events of an open stream that its client has not received. An open stream keeps its
-- newest event, which has the id from which the upstream resumes.
local function unread(last, received)
  return math.max(1, numberOf(last) - numberOf(received))
end

-- Keeps the quota of a stream. Returns whether the stream has to be trimmed further.
local function keepStreamQuota(name, isOpen, most)
  local bytes = measured(name)
  if bytes <= most then
    return false
  end
  local least = 1
  if isOpen then
    local state = redis.call('HMGET', KEYS[1], TAIL .. name, LAST .. name, DELIVERED .. name)
    least = state[1] and unread(state[2], state[3]) or 1
  end
  local left = trimOldest(name, bytes - most * KEPT_PART, least)
  return left > least and bytesOf(name) > most
end

-- Returns the open streams that have events, the largest first.
local function openStreamsBySize()
  local names, found, state = {}, {}, fieldsOf('otld')
  for name in pairs(state[OWNER]) do
    names[#names + 1] = name
  end
  for from = 1, #names, MOST do
    local fields = {}
    for i = from, math.min(#names, from + MOST - 1) do
      fields[#fields + 1] = BYTES .. names[i]
    end
    for i, bytes in ipairs(redis.call('HMGET', SIZES, unpack(fields))) do
      local name = names[from + i - 1]
      if tonumber(bytes or 0) > 0 then
        found[#found + 1] = {
          name = name,
          bytes = tonumber(bytes),
          followed = state[TAIL][name],
          received = state[DELIVERED][name],
          unread = unread(state[LAST][name], state[DELIVERED][name]),
        }
      end
    end
  end
  table.sort(found, function(one, other)
    return one.bytes > other.bytes
  end)
  return found
end

-- Trims open streams, the largest first. The function returns how many events a stream keeps at least,
-- or nothing if it keeps all.
local function trimOpen(streams, target, leastOf)
  local looked = 0
  for _, stream in ipairs(streams) do
    local least = mustPurge(target) and looked < MOST and leastOf(stream)
    if least then
      looked = looked + 1
      trimOldest(stream.name, all - target, least)
    end
  end
end

-- Removes all but the last events of complete streams that were not delivered.
local function trimNotifications(before, target)
  for _, name in ipairs(mustPurge(target) and inStage(NOTIFICATIONS, before) or {}) do
    if mustPurge(target) and trimOldest(name, all - target, 1) <= 1 then
      itemsLeft = itemsLeft - 1
      local score = tonumber(redis.call('ZSCORE', ORDER, name))
      redis.call('ZADD', ORDER, scoreText(score + STAGE), name)
      purged = true
    end
  end
end

-- Returns complete streams that only a replica of an earlier version has listed, without an order.
local function unordered()
  local names = redis.call('ZRANGE', COMPLETE, 0, streamsLeft - 1)
  local scores = #names > 0 and redis.call('ZMSCORE', ORDER, unpack(names)) or {}
  local found = {}
  for i, name in ipairs(names) do
    if not scores[i] then
      found[#found + 1] = name
    end
  end
  return found
end

-- Purges events of the session until it has at most so many bytes, as far as one run may. Events that
-- a connected client has not received stay. The newest event of a written stream stays, too: a message
-- that alone exceeds a quota must be delivered. docs/internals.md describes the order.
local function giveWay(target, written, now, onlyDelivered)
  local open = onlyDelivered and {} or openStreamsBySize()
  for i = 1, math.min(#open, 8) do
    if all > target then
      measured(open[i].name)
    end
  end
  removeStage(0, nil, target, {})
  if mustPurge(target) then
    delivered = 0 -- All are removed, also if an earlier version removed some and did not count them.
  end
  if onlyDelivered then
    return
  end
  trimOpen(open, target, function(stream)
    return stream.received and stream.unread
  end)
  trimNotifications(now - PROTECTED, target)
  trimOpen(open, target, function(stream)
    return not stream.followed and 1
  end)
  removeStage(RESULTS, now - PROTECTED, target, written)
  trimNotifications(nil, target)
  removeStage(RESULTS, nil, target, written)
  if mustPurge(target) then
    removeWhileTooLarge(unordered(), target, written)
  end
  trimOpen(open, target, function(stream)
    return not stream.followed and not written[stream.name] and 0
  end)
end

