-- Reports the streams that a replica has written, or delivered to their end, since its last report.
-- Counts their bytes, keeps the quotas, and lists complete streams by their expiry and in the order
-- in which they give way. Now and then, and always without streams, looks for expired streams and
-- extends times to live.
-- KEYS session hash
-- ARGV time to live of events in ms, of delivered streams in ms, of the session in ms, most bytes of
--      a stream, most bytes of a session, '1' to remove expired streams, this replica, then for each
--      stream: name, bytes, bytes of the largest event, flags ('n' new since the last report, 'c'
--      complete, 'f' followed by a client, 'l' left by its client, 'd' delivered to its end, 'k' kept
--      as if it was not)
-- Returns the bytes of the session and of its delivered complete streams, '1' if the script has to
--      run again, else '0', and the client; all in one text. If there is no such session, removes
--      streams that it has left, and returns no bytes.
local FIRST, FIELDS = 8, 4
local LARGE = 1048576 -- bytes of a stream of which age or count may have purged many
local MOST_LARGE = 32 -- streams that one run looks at because they are large
local timeToLive, deliveredTimeToLive = tonumber(ARGV[1]), tonumber(ARGV[2])
local sessionTimeToLive = tonumber(ARGV[3])
local mostOfStream, mostOfSession = tonumber(ARGV[4]), tonumber(ARGV[5])
local names, written, owners, fields = {}, {}, { 'log', CLIENT }, { REMOVED_AT }
for i = FIRST, #ARGV, FIELDS do
  local name = ARGV[i]
  names[#names + 1] = name
  written[name] = true
  owners[#owners + 1] = OWNER .. name
  owners[#owners + 1] = TAIL .. name
  fields[#fields + 1] = BYTES .. name
  fields[#fields + 1] = LARGEST .. name
end
owners = redis.call('HMGET', KEYS[1], unpack(owners))
if not owners[1] and redis.call('EXISTS', KEYS[1]) == 0 then
  unlink(names) -- They were completed when the session ended.
  return removeGarbage() and '0 0 1 ' or '0 0 0 '
end
local now = currentMillis()
local sizes = loadTotals(fields)
local lookedAt = tonumber(sizes[1]) or 0
local again = false
if ARGV[6] == '1' then
  again = removeExpired(now)
  sizes = redis.call('HMGET', SIZES, unpack(fields))
end

local function isOpen(nth)
  return owners[nth * 2 + 1]
end

-- Returns whether a connected client may not have the end of a complete stream. Redis has the record
-- of one on another replica than the writer's, and of one that has come back.
local function isFollowed(nth)
  local tail, flags = owners[nth * 2 + 2], ARGV[FIRST + (nth - 1) * FIELDS + 3]
  local isDelivered = string.find(flags, 'd', 1, true)
  if tail then
    return not isDelivered or replicaOf(tail) ~= ARGV[7]
  end
  return not isDelivered and string.find(flags, 'f', 1, true)
end

-- Returns whether an earlier report has said so, and this one does not say that the client has left.
local function wasFollowed(nth)
  return not string.find(ARGV[FIRST + (nth - 1) * FIELDS + 3], '[ld]')
    and tonumber(redis.call('ZSCORE', ORDER, names[nth]) or 0) >= FOLLOWED
end

local changed, tooLarge, known = {}, {}, {}
for nth, name in ipairs(names) do
  local i = FIRST + (nth - 1) * FIELDS
  local added, largest, flags = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3]
  known[name] = tonumber(sizes[nth * 2] or 0)
  local bytes, before = known[name] + added, sizes[nth * 2 + 1]
  if added > 0 then
    all = all + added
    changed[#changed + 1] = BYTES .. name
    changed[#changed + 1] = text(bytes)
  end
  -- The largest event of a stream stays unknown if an older version began the stream.
  if (before or string.find(flags, 'n', 1, true)) and largest > tonumber(before or 0) then
    changed[#changed + 1] = LARGEST .. name
    changed[#changed + 1] = largest
  end
  if bytes > mostOfStream or bytes > LARGE and string.find(flags, 'c', 1, true) then
    tooLarge[nth] = name
  end
end
if #changed > 0 then
  redis.call('HSET', SIZES, ALL_BYTES, text(all), unpack(changed))
  allBefore = all
end
local looked = 0
for nth, name in pairs(tooLarge) do
  looked = looked + 1
  if looked <= MOST_LARGE and (isOpen(nth) or not (isFollowed(nth) or wasFollowed(nth))) then
    again = keepStreamQuota(name, isOpen(nth), mostOfStream) or again
  end
end
again = again or looked > MOST_LARGE and hasPurged()

local complete, streams, isDelivered, isKept, read = {}, {}, {}, {}, {}
fields = {}
for nth, name in ipairs(names) do
  local flags = ARGV[FIRST + (nth - 1) * FIELDS + 3]
  local listed = string.find(flags, '[cd]')
  if not listed and string.find(flags, 'l', 1, true) then
    listed = tonumber(redis.call('ZSCORE', ORDER, name) or 0) >= FOLLOWED
  end
  if listed and not isOpen(nth) then
    streams[#streams + 1] = name
    isKept[#streams] = isFollowed(nth)
    isDelivered[#streams] = not isKept[#streams] and string.find(flags, 'd', 1, true)
    if owners[nth * 2 + 2] and isDelivered[#streams] then
      read[#read + 1] = TAIL .. name
    end
    local brief = string.find(flags, 'd', 1, true) and not string.find(flags, 'k', 1, true)
    complete[#complete + 1] = now + (brief and deliveredTimeToLive or timeToLive)
    complete[#complete + 1] = name
    fields[#streams * 2 - 1], fields[#streams * 2] = BYTES .. name, LARGEST .. name
  end
end
local interval = extensionInterval(math.min(timeToLive, sessionTimeToLive))
if #streams > 0 then
  local order = {}
  local before = redis.call('ZMSCORE', ORDER, unpack(streams))
  fields = redis.call('HMGET', SIZES, unpack(fields))
  for i, name in ipairs(streams) do
    local bytes, largest = tonumber(fields[i * 2 - 1] or 0), tonumber(fields[i * 2] or 0)
    local wasDelivered = before[i] and tonumber(before[i]) < STAGE
    if wasDelivered or isDelivered[i] then
      delivered = delivered + bytes - (wasDelivered and known[name] or 0)
    end
    local stage = bytes - largest > EVENT_BYTES and NOTIFICATIONS or RESULTS
    stage = isKept[i] and FOLLOWED or stage
    -- The fraction keeps the order of this report.
    local time = now + i / 512
    order[i * 2 - 1], order[i * 2] = scoreText(isDelivered[i] and time or time + stage), name
  end
  -- Another replica may have reported that the stream was delivered.
  redis.call('ZADD', COMPLETE, 'LT', unpack(complete))
  redis.call('ZADD', ORDER, 'LT', unpack(order))
  redis.call('PEXPIRE', COMPLETE, timeToLive + interval)
  redis.call('PEXPIRE', ORDER, timeToLive + interval)
  if #read > 0 then
    redis.call('HDEL', KEYS[1], unpack(read))
  end
end
if all > mostOfSession then
  giveWay(mostOfSession * KEPT_PART, written, now, false)
  again = again or all > mostOfSession and hasPurged()
end
if #names == 0 or math.abs(now - lookedAt) >= interval then
  again = again or #redis.call('ZRANGEBYSCORE', COMPLETE, '-inf', now, 'LIMIT', 0, 1) > 0
  redis.call('HSET', SIZES, REMOVED_AT, text(now))
  redis.call('PEXPIRE', SIZES, timeToLive + interval)
  redis.call('PEXPIRE', KEYS[1], sessionTimeToLive)
end
return savedTotals(again, owners[2] or '')
