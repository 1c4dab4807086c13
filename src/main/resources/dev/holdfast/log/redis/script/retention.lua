-- Functions that trim streams and extend times to live only now and then. They precede the scripts
-- that append events or report them.

-- A burst of so many events is trimmed, even if the stream was trimmed just before.
local TRIMMED_EVENTS = 100
-- One append removes at most so many events beyond a number.
local MOST_TRIMMED = 4096

-- Returns the ms for which an extended time to live is not extended again. Keys that are extended
-- only then live longer by that time.
local function extensionInterval(timeToLive)
  return math.ceil(math.min(5000, timeToLive / 8))
end

-- Returns whether an append is the first of its stream in an interval, so that it trims and extends.
-- The times are those of the newest event, or 0 for none, and of the append, by the clock of Redis.
local function isDue(before, now, interval)
  return math.floor(before / interval) ~= math.floor(now / interval)
end

-- Trims the events of a stream beyond a number or an age, when there is something to trim. Keeps
-- what its connected reader does not have: the events after a position, or false without a reader.
local function trim(key, before, after, most, due, oldest, read)
  if read then
    local millis, number = string.match(read, '^(%d+)%-(%d+)$')
    most = math.max(most, after - tonumber(number))
    oldest = math.min(oldest, tonumber(millis))
  end
  local isBurst = math.floor(before / TRIMMED_EVENTS) ~= math.floor(after / TRIMMED_EVENTS)
  if after > most and (due or isBurst) then
    local length = redis.call('XLEN', key)
    redis.call('XTRIM', key, 'MAXLEN', math.max(most, length - MOST_TRIMMED))
  end
  if before > 0 and due then
    redis.call('XTRIM', key, 'MINID', '~', string.format('%.0f', oldest))
  end
end

