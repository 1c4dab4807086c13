-- Removes from the inbox of a session the messages that a replica has received, and returns the
-- next messages for streams that the replica owns now, in order. Removes messages whose streams are
-- no longer open.
-- KEYS session hash, inbox
-- ARGV replica, bytes after which no further message is returned, then for each received message:
--      id, bytes
-- Returns for each message: id, names of its streams, message, the owner in whose name its stream
--      was opened (or none), the shared stream that keeps the events of that stream (or none).
local replica, enough = ARGV[1], tonumber(ARGV[2])
local freed = 0

local function remove(id, bytes)
  if redis.call('XDEL', KEYS[2], id) == 1 then
    freed = freed + bytes
  end
end

for i = 3, #ARGV, 2 do
  remove(ARGV[i], tonumber(ARGV[i + 1]))
end

local owners = {}
local function ownerOf(name)
  if owners[name] == nil then
    local recorded = redis.call('HGET', KEYS[1], OWNER .. name)
    owners[name] = recorded and replicaOf(recorded)
  end
  return owners[name]
end

local found, bytes, from = {}, 0, '-'
while bytes < enough do
  -- Entries are read one at a time: messages may be large, and nearly always there is only one.
  local entry = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 1)[1]
  if not entry then
    break
  end
  local id, names, message, opened = entry[1], entry[2][2], entry[2][4], entry[2][6]
  local open, mine = false, false
  for name in string.gmatch(names, '%S+') do
    open = open or ownerOf(name)
    mine = ownerOf(name) == replica
    if mine then
      break
    end
  end
  if opened and redis.call('HGET', KEYS[1], OWNER .. names) ~= opened then
    open, mine = false, false -- The stream has a new owner, which ends it.
  end
  if mine then
    local keptIn = opened and redis.call('HGET', KEYS[1], KEPT_IN .. names)
    found[#found + 1] = { id, names, message, opened or false, keptIn or false }
    bytes = bytes + #message
  elseif not open then
    remove(id, #message)
  end
  from = '(' .. id
end
if freed > 0 and redis.call('XLEN', KEYS[2]) == 0 then
  redis.call('HDEL', KEYS[1], INBOX_BYTES)
elseif freed > 0 then
  -- The remaining messages are for open streams, so this does not recreate an expired session hash.
  redis.call('HINCRBY', KEYS[1], INBOX_BYTES, -freed)
end
return found
