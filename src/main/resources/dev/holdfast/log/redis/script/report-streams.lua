-- Reports the streams that a replica has written, or delivered to their end, since its last report.
-- Counts their bytes, keeps the quotas, and lists complete streams by their expiry. Now and then,
-- and always without streams, removes expired streams and extends times to live.
-- KEYS session hash
-- ARGV time to live of events in ms, of delivered streams in ms, of the session in ms, most bytes of
--      a stream, most bytes of a session, then for each stream: name, bytes, bytes of the largest
--      event, flags ('n' new since the last report, 'c' complete, 'd' delivered to its end)
-- Returns the bytes of the session, a space and its client; '0 ' when there is no such session.
local FIRST, FIELDS = 6, 4
local timeToLive, deliveredTimeToLive = tonumber(ARGV[1]), tonumber(ARGV[2])
local sessionTimeToLive = tonumber(ARGV[3])
local mostOfStream, mostOfSession = tonumber(ARGV[4]), tonumber(ARGV[5])
local owners, sizes = { 'log', CLIENT }, { ALL_BYTES, REMOVED_AT }
for i = FIRST, #ARGV, FIELDS do
  owners[#owners + 1] = OWNER .. ARGV[i]
  sizes[#sizes + 1] = BYTES .. ARGV[i]
  sizes[#sizes + 1] = LARGEST .. ARGV[i]
end
owners = redis.call('HMGET', KEYS[1], unpack(owners))
if not owners[1] and redis.call('EXISTS', KEYS[1]) == 0 then
  for i = FIRST, #ARGV, FIELDS do
    redis.call('UNLINK', streamKey(ARGV[i])) -- Completed when the session ended.
  end
  return '0 '
end
sizes = redis.call('HMGET', SIZES, unpack(sizes))

local now = currentMillis()
local all = tonumber(sizes[1]) or 0
local changed, complete, undelivered = {}, {}, {}
for i = FIRST, #ARGV, FIELDS do
  local name, added, largest, flags =
    ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), ARGV[i + 3]
  local nth = (i - FIRST) / FIELDS + 1
  local bytes, known = sizes[nth * 2 + 1], sizes[nth * 2 + 2]
  local delivered = string.find(flags, 'd', 1, true)
  local isOpen = owners[nth + 2]
  if isOpen or not delivered then
    undelivered[name] = true
  end
  if added > 0 then
    bytes = (tonumber(bytes) or 0) + added
    all = all + added
    if bytes > mostOfStream then
      local size = measure(name)
      size = size > mostOfStream and shrink(name, size, mostOfStream * KEPT_PART, 1) or size
      all = all - bytes + size
      bytes = size
    end
    changed[#changed + 1] = BYTES .. name
    changed[#changed + 1] = bytes
  end
  -- The largest event of a stream stays unknown if an older version began the stream.
  if (known or string.find(flags, 'n', 1, true)) and largest > (tonumber(known) or 0) then
    changed[#changed + 1] = LARGEST .. name
    changed[#changed + 1] = largest
  end
  if not isOpen and flags ~= '' and flags ~= 'n' then
    complete[#complete + 1] = now + (delivered and deliveredTimeToLive or timeToLive)
    complete[#complete + 1] = name
  end
end
if #changed > 0 then
  redis.call('HSET', SIZES, ALL_BYTES, all, unpack(changed))
end
local interval = extensionInterval(math.min(timeToLive, sessionTimeToLive))
if #complete > 0 then
  -- Another replica may have reported that the stream was delivered.
  redis.call('ZADD', COMPLETE, 'LT', unpack(complete))
  redis.call('PEXPIRE', COMPLETE, timeToLive + interval)
end
if all > mostOfSession then
  shrinkSession(mostOfSession, undelivered)
end
if #ARGV < FIRST or math.abs(now - (tonumber(sizes[2]) or 0)) >= interval then
  removeExpired(now)
  redis.call('PEXPIRE', SIZES, timeToLive + interval)
  redis.call('PEXPIRE', KEYS[1], sessionTimeToLive)
end
local bytes = string.format('%.0f', redis.call('HGET', SIZES, ALL_BYTES) or 0)
return bytes .. ' ' .. (owners[2] or '')
