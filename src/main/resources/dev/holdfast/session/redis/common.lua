-- Functions shared by the scripts on session hashes and expiry indexes.

-- Fields of the session hash that scripts know by name; SessionFields has all of them.
local EXPIRES, TRANSPORT, OPENER = 'expires', 'transport', 'opener'
local USED, ADDRESS, REQUESTS, ERRORS = 'used', 'address', 'requests', 'errors'

-- The transport of a session that its client has not initialized.
local UNINITIALIZED = 'sse-opening'

-- Whether there is a session that has not expired.
local function is_alive(session)
  local expires = redis.call('HGET', session, EXPIRES)
  return expires and tonumber(expires) > currentMillis()
end

-- Writes a number of ms without an exponent.
local function format(millis)
  return string.format('%.0f', millis)
end

-- Who opened a session; empty when it is unknown.
local function opener_of(session)
  return redis.call('HGET', session, OPENER) or ''
end

-- Starts the idle timeout of a session again, and returns its end and the opener.
local function extend(session, idle_timeout, time_to_live)
  local expires = format(currentMillis() + idle_timeout)
  redis.call('HSET', session, EXPIRES, expires)
  redis.call('PEXPIRE', session, time_to_live)
  return {expires, opener_of(session)}
end
