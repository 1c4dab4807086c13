-- Precedes every script.

-- Returns the time of this Redis server in ms since the epoch.
local function currentMillis()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
