-- Constants and functions that all scripts of the log share. Each script is appended to this file.

-- Fields that the session hash has for each open stream, before the name of the stream. The Javadoc
-- of StreamField documents them.
local OWNER, REQUESTS, LAST, TAIL = 'o:', 'r:', 'l:', 't:'
local DELIVERED, UPSTREAM, KEPT_IN, CALL = 'd:', 'u:', 'i:', 'c:'
-- The field that counts the bytes of the messages in the inbox.
local INBOX_BYTES = 'in'
-- The field that counts the open streams, and those that were closed since they were last counted.
local OPENED = 'n'
-- The field of the client whose share of the log the session takes. The session store writes it, too.
local CLIENT = 'opener'
-- The field that exists once a quota has removed a whole stream.
local LOST = 'lost'

-- The keys of the complete streams and of the hash of sizes. Both share the slot of the session
-- hash, as do the streams themselves.
local COMPLETE, SIZES = KEYS[1] .. ':streams', KEYS[1] .. ':sizes'
-- The complete streams in the order in which they give way to others, and those of an ended session.
local ORDER, GARBAGE = KEYS[1] .. ':order', KEYS[1] .. ':garbage'
-- Fields of the hash of sizes: the bytes of the largest event of a stream and of all its events,
-- the bytes of all events of the session and of its delivered complete streams, and when expired
-- streams were last looked for.
local LARGEST, BYTES, ALL_BYTES, DELIVERED_BYTES, REMOVED_AT = 'w:', 'b:', 'b', 'd', 'c'

-- Redis serves nobody else while a script runs. So one run handles at most so many events to remove,
-- or members of a set, and its caller runs it again.
local MOST = 128
-- The same for complete streams. Redis needs up to 15 us to remove one.
local MOST_STREAMS = 64

local function streamKey(name)
  return KEYS[1] .. ':e:' .. name
end

-- Returns the replica of an owner ("replica fence") or of a tail ("replica number").
local function replicaOf(text)
  return string.match(text, '^(%S+)')
end

-- Returns the position up to which a stream was delivered if it has a connected reader, else false.
-- "read" is '-' if the reader is not on this replica, or a new position of it, or ''.
local function readUpTo(tail, replica, read, delivered)
  local isHere = tail and replicaOf(tail) == replica
  if not tail or (isHere and read == '-') then
    return false
  end
  return isHere and read ~= '' and read or delivered or '0-0'
end

-- Returns the end of the reply to an append: a reader on another replica, and where it is.
local function remoteReader(tail, replica, read)
  if not tail or replicaOf(tail) == replica then
    return ''
  end
  return ' ' .. read .. ' ' .. tail
end

-- Returns fields of all open streams by kind and name. Each letter names a kind: 'o' OWNER, 't' TAIL. Reads no other fields, since they can be large, and needs few commands for many streams.
local function fieldsOf(kinds)
  local found, cursor = {}, '0'
  for kind in string.gmatch(kinds, '.') do
    found[kind .. ':'] = {}
  end
  repeat
    local page = redis.call('HSCAN', KEYS[1], cursor, 'MATCH', '[' .. kinds .. ']:*', 'COUNT', 1000)
    for i = 1, #page[2], 2 do
      local field = page[2][i]
      found[string.sub(field, 1, 2)][string.sub(field, 3)] = page[2][i + 1]
    end
    cursor = page[1]
  until cursor == '0'
  return found
end

-- Removes streams with few commands.
local function unlink(names)
  for from = 1, #names, MOST do
    local streams = {}
    for i = from, math.min(#names, from + MOST - 1) do
      streams[#streams + 1] = streamKey(names[i])
    end
    redis.call('UNLINK', unpack(streams))
  end
end

-- Removes streams of an ended session. Returns whether more are left.
local function removeGarbage()
  local names = redis.call('ZRANGE', GARBAGE, 0, MOST_STREAMS - 1)
  if #names > 0 then
    unlink(names)
    redis.call('ZREM', GARBAGE, unpack(names))
  end
  return #names == MOST_STREAMS
end

-- Removes members of a sorted set whose time has passed.
local function removePassed(set, now)
  local passed = redis.call('ZRANGEBYSCORE', set, '-inf', now, 'LIMIT', 0, MOST)
  if #passed > 0 then
    redis.call('ZREM', set, unpack(passed))
  end
end

