-- Constants and functions that all scripts of the log share. Each script is appended to this file.

-- Fields that the session hash has for each open stream, before the name of the stream. The Javadoc
-- of StreamField documents them.
local OWNER, REQUESTS, LAST, TAIL = 'o:', 'r:', 'l:', 't:'
local DELIVERED, UPSTREAM, KEPT_IN = 'd:', 'u:', 'i:'
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

-- Redis serves nobody else while a script runs. So one run handles at most so many complete streams,
-- events to remove, or members of a set, and its caller runs it again.
local MOST = 256

local function streamKey(name)
  return KEYS[1] .. ':e:' .. name
end

-- Returns the name of the stream to which a field of this kind belongs, or nil for other fields.
local function streamOf(field, kind)
  if string.sub(field, 1, 2) == kind then
    return string.sub(field, 3)
  end
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

-- Returns the owners of the open streams by name. Reads no other fields, since they can be large.
local function openStreams()
  local owners = {}
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local name = streamOf(field, OWNER)
    if name then
      owners[name] = redis.call('HGET', KEYS[1], field)
    end
  end
  return owners
end

-- Removes streams of an ended session. Returns whether more are left.
local function removeGarbage()
  local names = redis.call('ZRANGE', GARBAGE, 0, MOST - 1)
  if #names > 0 then
    local streams = {}
    for i, name in ipairs(names) do
      streams[i] = streamKey(name)
    end
    redis.call('UNLINK', unpack(streams))
    redis.call('ZREM', GARBAGE, unpack(names))
  end
  return #names == MOST
end

-- Removes members of a sorted set whose time has passed.
local function removePassed(set, now)
  local passed = redis.call('ZRANGEBYSCORE', set, '-inf', now, 'LIMIT', 0, MOST)
  if #passed > 0 then
    redis.call('ZREM', set, unpack(passed))
  end
end

