-- Constants and functions that all scripts of the log share. Each script is appended to this file.

-- Fields that the session hash has for each open stream, before the name of the stream. The Javadoc
-- of StreamField documents them.
local OWNER, REQUESTS, LAST, TAIL = 'o:', 'r:', 'l:', 't:'
local DELIVERED, UPSTREAM, KEPT_IN = 'd:', 'u:', 'i:'
-- The field that counts the bytes of the messages in the inbox.
local INBOX_BYTES = 'in'

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

