-- Puts a message into a session's inbox: for the owner of one open stream, or, without a name, once
-- for each other replica that owns open streams; '-' is none. Tells those who are to take it.
-- KEYS session, inbox, ends
-- ARGV name (or ''), message, replica, channel prefix, session, most entries, most bytes, sessionTtl,
--      a name for this message, which has no form of a stream's
-- Returns for how many replicas it is.
local REMEMBER = 60000 -- ms: an attempt may be made again, or held up on its way, for so long
local names, replicas = {}, {}

local function address(name, owner)
  local replica = string.match(owner, '^(%S+)')
  if not names[replica] then
    names[replica] = {}
    replicas[#replicas + 1] = replica
  end
  table.insert(names[replica], name)
end

if ARGV[1] ~= '' then
  local owner = redis.call('HGET', KEYS[1], 'o:' .. ARGV[1])
  if owner then
    address(ARGV[1], owner)
  end
else
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    local name = string.match(fields[i], '^o:(.+)$')
    local replica = name and string.match(fields[i + 1], '^(%S+)')
    if name and replica ~= ARGV[3] and replica ~= '-' then
      address(name, fields[i + 1])
    end
  end
end

local before = redis.call('ZSCORE', KEYS[3], ARGV[9]) -- a retry finds itself
local entries = redis.call('XLEN', KEYS[2])
-- What is left of an inbox that has expired counts for nothing.
local bytes = entries > 0 and tonumber(redis.call('HGET', KEYS[1], 'in')) or 0
local full = #replicas > 0
  and (entries + #replicas > tonumber(ARGV[6]) or bytes >= tonumber(ARGV[7]))
local fresh = not before and not full and #replicas > 0
for _, replica in ipairs(replicas) do
  if fresh then
    redis.call('XADD', KEYS[2], '*', 's', table.concat(names[replica], ' '), 'd', ARGV[2])
    redis.call('PEXPIRE', KEYS[2], ARGV[8])
    bytes = bytes + #ARGV[2]
    redis.call('HSET', KEYS[1], 'in', bytes)
  end
  -- Also when it is full: perhaps the owner has not heard of what is there.
  redis.call('PUBLISH', ARGV[4] .. replica, 'in ' .. ARGV[5])
end
if fresh then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  redis.call('ZADD', KEYS[3], now + REMEMBER, ARGV[9])
  if redis.call('PTTL', KEYS[3]) < REMEMBER then
    redis.call('PEXPIRE', KEYS[3], REMEMBER)
  end
end
if before then
  return math.max(#replicas, 1)
end
return full and 'FULL' or #replicas
