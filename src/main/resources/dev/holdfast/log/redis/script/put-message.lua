-- Puts a message into the inbox of a session and notifies the replicas that collect it. With a
-- stream, the message is for the owner of that stream. Without one, the script puts one copy for
-- each other replica that owns open streams. The owner '-' of shared streams gets no message.
-- KEYS session hash, inbox, set of ended streams
-- ARGV stream (or ''), message, this replica, channel prefix, session, most messages in the inbox,
--      most bytes in the inbox, time to live of the session in ms, id of this message, which is not
--      a valid stream name
-- Returns the number of replicas for which the message was put, or 'FULL'.
local REMEMBER = 60000 -- ms within which a retry or a delayed command can arrive
local names, replicas = {}, {}

local function address(name, owner)
  local replica = replicaOf(owner)
  if not names[replica] then
    names[replica] = {}
    replicas[#replicas + 1] = replica
  end
  table.insert(names[replica], name)
end

if ARGV[1] ~= '' then
  local owner = redis.call('HGET', KEYS[1], OWNER .. ARGV[1])
  if owner then
    address(ARGV[1], owner)
  end
else
  for name, owner in pairs(fieldsOf('o')[OWNER]) do
    local replica = replicaOf(owner)
    if replica ~= ARGV[3] and replica ~= '-' then
      address(name, owner)
    end
  end
end

local retry = redis.call('ZSCORE', KEYS[3], ARGV[9]) -- An earlier attempt has put the message.
local messages = redis.call('XLEN', KEYS[2])
-- Ignore the count of an expired inbox.
local bytes = messages > 0 and tonumber(redis.call('HGET', KEYS[1], INBOX_BYTES)) or 0
local full = #replicas > 0
  and (messages + #replicas > tonumber(ARGV[6]) or bytes >= tonumber(ARGV[7]))
local accepted = not retry and not full and #replicas > 0
for _, replica in ipairs(replicas) do
  if accepted then
    redis.call('XADD', KEYS[2], '*', 's', table.concat(names[replica], ' '), 'd', ARGV[2])
    redis.call('PEXPIRE', KEYS[2], ARGV[8])
    bytes = bytes + #ARGV[2]
    redis.call('HSET', KEYS[1], INBOX_BYTES, bytes)
  end
  -- Announce a full inbox too: the owner may have missed the earlier announcements.
  redis.call('PUBLISH', ARGV[4] .. replica, 'in ' .. ARGV[5])
end
if accepted then
  local now = currentMillis()
  removePassed(KEYS[3], now)
  redis.call('ZADD', KEYS[3], now + REMEMBER, ARGV[9])
  if redis.call('PTTL', KEYS[3]) < REMEMBER then
    redis.call('PEXPIRE', KEYS[3], REMEMBER)
  end
end
if retry then
  return math.max(#replicas, 1)
end
return full and 'FULL' or #replicas
