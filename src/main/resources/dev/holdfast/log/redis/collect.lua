-- Removes from a session's inbox what a replica has had, and gives it what waits for streams that
-- it owns now, in order. Entries whose streams are no longer open are removed.
-- KEYS session, inbox
-- ARGV replica, bytes after which it is enough, then per entry that it has had: id, bytes
-- Returns per entry: id, names, message, the owner in whose name its stream was opened (or none), and
-- the stream that keeps the events of that (or none).
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
local function owner(name)
  if owners[name] == nil then
    local recorded = redis.call('HGET', KEYS[1], 'o:' .. name)
    owners[name] = recorded and string.match(recorded, '^(%S+)')
  end
  return owners[name]
end

local found, bytes, from = {}, 0, '-'
while bytes < enough do
  -- One at a time: messages may be large, and nearly always there is but one.
  local entry = redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', 1)[1]
  if not entry then
    break
  end
  local id, names, message, opened = entry[1], entry[2][2], entry[2][4], entry[2][6]
  local open, mine = false, false
  for name in string.gmatch(names, '%S+') do
    open = open or owner(name)
    mine = mine or owner(name) == replica
  end
  if opened and redis.call('HGET', KEYS[1], 'o:' .. names) ~= opened then
    open, mine = false, false -- Its stream has a new owner, who ends it.
  end
  if mine then
    local into = opened and redis.call('HGET', KEYS[1], 'i:' .. names)
    found[#found + 1] = { id, names, message, opened or false, into or false }
    bytes = bytes + #message
  elseif not open then
    remove(id, #message)
  end
  from = '(' .. id
end
if freed > 0 and redis.call('XLEN', KEYS[2]) == 0 then
  redis.call('HDEL', KEYS[1], 'in')
elseif freed > 0 then
  -- What is left is for a stream that is open, so this brings back no session that has expired.
  redis.call('HINCRBY', KEYS[1], 'in', -freed)
end
return found
